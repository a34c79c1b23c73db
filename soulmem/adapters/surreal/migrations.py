"""Migrates a store to the present schema: each migration once, in one transaction with its record."""

from __future__ import annotations

from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.link import bound
from soulmem.adapters.surreal.schema import META, MIGRATIONS
from soulmem.domain.errors import StoreTooNew


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
            f"the data in {place} was written by a newer SoulMem (schema {version}; this one knows "
            f"{len(MIGRATIONS)}): update SoulMem, or choose another folder with --data"
        )
    for number in range(version, len(MIGRATIONS)):
        migration = MIGRATIONS[number]
        applied = {
            "version": number + 1,
            "applied": [step.name for step in MIGRATIONS[: number + 1]],
        }
        sql = f"BEGIN;{META}{migration.sql}UPSERT meta:schema CONTENT $applied RETURN NONE;COMMIT;"
        await run(bound(sql, applied=applied))
