"""Makes the tables of a new store, and refuses stores of another schema."""

from __future__ import annotations

from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.link import bound
from soulmem.adapters.surreal.schema import LATER, META, TABLES, VERSION
from soulmem.domain.errors import StoreTooNew, StoreTooOld
from soulmem.domain.phrases import phrase


def check_version(version: int, place: object) -> None:
    """Raises StoreTooNew, StoreTooOld for the schema of another SoulMem."""
    if version > VERSION:
        raise StoreTooNew(
            phrase(
                "store_too_new",
                "the data in {place} was written by a newer SoulMem (schema {schema}; this one knows"
                " {known}): update SoulMem, or choose another folder with --data",
                place=place,
                schema=version,
                known=VERSION,
            )
        )
    if version < VERSION:
        raise StoreTooOld(
            phrase(
                "store_too_old",
                "the data in {place} was written by an older SoulMem (schema {schema}; this one knows"
                " {known}) and is left as it is: export each character with the SoulMem that wrote it"
                " (`soulmem export`), choose another folder here with --data, and read the files there"
                " (`soulmem restore FILE`)",
                place=place,
                schema=version,
                known=VERSION,
            )
        )


async def prepare(run: Run, place: str) -> None:
    """Make the tables that are missing.

    Raises StoreTooNew, StoreTooOld for another schema, before anything is written.
    """
    (tables,) = await run(bound("RETURN (INFO FOR DB).tables.keys();"))
    if "meta" in tables:
        stored = bound("SELECT VALUE version FROM ONLY meta:schema;")
        (version,) = await run(stored)
        check_version(int(version or 0), place)
        missing = [LATER[table] for table in LATER if table not in tables]
        if missing:
            await run(bound(f"BEGIN;{''.join(missing)}COMMIT;"))
        return
    mark = "UPSERT meta:schema SET version = $version RETURN NONE"
    await run(bound(f"BEGIN;{META}{TABLES}{mark};COMMIT;", version=VERSION))
