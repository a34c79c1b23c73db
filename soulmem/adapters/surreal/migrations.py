"""Migrates a store to the present schema: each migration once, in one transaction with its record."""

from __future__ import annotations

from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.link import bound
from soulmem.adapters.surreal.schema import META, MIGRATIONS
from soulmem.domain.errors import StoreTooNew
from soulmem.domain.phrases import phrase


async def migrate(run: Run, place: str) -> None:
    """Apply the missing migrations. Raises StoreTooNew for a newer store, before anything is written."""
    (tables,) = await run(bound("RETURN (INFO FOR DB).tables.keys();"))
    version = 0
    if "meta" in tables:
        (stored_version,) = await run(
            bound("SELECT VALUE version FROM ONLY meta:schema;")
        )
        version = int(stored_version or 0)
    if version > len(MIGRATIONS):
        raise StoreTooNew(
            phrase(
                "store_too_new",
                "the data in {place} was written by a newer SoulMem (schema {schema}; this one knows"
                " {known}): update SoulMem, or choose another folder with --data",
                place=place,
                schema=version,
                known=len(MIGRATIONS),
            )
        )
    for number in range(version, len(MIGRATIONS)):
        migration = MIGRATIONS[number]
        applied = {
            "version": number + 1,
            "applied": [step.name for step in MIGRATIONS[: number + 1]],
        }
        sql = f"BEGIN;{META}{migration.sql}UPSERT meta:schema CONTENT $applied RETURN NONE;COMMIT;"
        await run(bound(sql, applied=applied))
