"""The embedded store with its backups: copied before another version takes it over, never opened when parts
of it are missing, and told how to come back when it cannot be read.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from soulmem import __version__
from soulmem.adapters.backup_folder import Backup, BackupFolder
from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.schema import MIGRATIONS
from soulmem.adapters.surreal.store import SurrealStore
from soulmem.domain.errors import StoreBroken, StoreLocked

MARKER = "store.json"  # beside the store: which SoulMem used it last
_ENGINE = "surrealdb-embedded"


class KeptStore(SurrealStore):
    """A store in `data / name`, and the `Backups` of it."""

    def __init__(self, data: Path, name: str, backups: BackupFolder) -> None:
        super().__init__(f"surrealkv://{data / name}")
        self._data = data
        self._folder = data / name
        self._backups = backups

    async def open(self) -> None:
        """See `Store`. Also raises StoreError when the copy before an upgrade cannot be made."""
        await asyncio.to_thread(self._before)
        try:
            await super().open()
        except StoreLocked:
            raise
        except StoreBroken as error:
            raise StoreBroken(await asyncio.to_thread(self._way_back, error.message)) from error
        await asyncio.to_thread(self._after)

    async def last(self, before: datetime) -> datetime | None:
        """See `Backups`."""
        found = await asyncio.to_thread(self._backups.all)
        return next((one.made for one in found if one.made <= before), None)

    async def make(self, now: datetime) -> str:
        """See `Backups`. Others wait for the copying only, not while it is packed."""
        place = await asyncio.to_thread(self._backups.place_for_copy, self._folder)

        async def copy(_run: Run) -> None:
            await asyncio.to_thread(self._backups.copy, self._folder, place)

        await self._connection.read(copy)
        made: Backup = await asyncio.to_thread(self._backups.pack, place, now)
        return str(made.path)

    def _before(self) -> None:
        """Look before the engine does: it would make a new, empty store where it misses its list of files."""
        known = _read(self._data / MARKER)
        if is_locked(self._folder):
            return  # whoever has it will be named
        has_list = _any(self._folder / "manifest")
        if not has_list and (known or _any(self._folder / "sstables")):
            raise StoreBroken(self._way_back(f"files of the store in {self._folder} are missing"))
        self._backups.tidy()
        if has_list and _is_older(known):
            place = self._backups.place_for_copy(self._folder)
            self._backups.copy(self._folder, place)
            self._backups.pack(place, datetime.now(timezone.utc), upgrade=True)

    def _after(self) -> None:
        now = _present()
        if _read(self._data / MARKER) == now:
            return
        with suppress(OSError):  # then there is only one copy more the next time
            fresh = self._data / f"{MARKER}.new"
            fresh.write_text(json.dumps(now), encoding="utf-8")
            fresh.replace(self._data / MARKER)

    def _way_back(self, reason: str) -> str:
        """The reason, and what to do: nothing was changed, and there is a backup or none."""
        found = self._backups.all()
        if not found:
            return (
                f"{reason}. Nothing was deleted. There is no backup in {self._backups.folder}: put the files"
                f" back from a copy of your own, or move {self._folder} and {self._data / MARKER} away to"
                " begin anew"
            )
        newest = found[0]
        return (
            f"{reason}. Nothing was deleted. The newest backup is of {newest.made:%Y-%m-%d %H:%M} UTC"
            f" ({newest.path}). To take it: stop SoulMem, run `soulmem restore --newest --data {self._data}`,"
            " start it again; the damaged files are kept aside"
        )


def is_locked(folder: Path) -> bool:
    """Whether a process has the store in `folder` open. Where that cannot be asked: False."""
    try:
        import fcntl

        with (folder / "LOCK").open("rb+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    except (ImportError, OSError):
        pass
    return False


def _present() -> dict[str, Any]:
    return {"soulmem": __version__, "engine": metadata.version(_ENGINE), "schema": len(MIGRATIONS)}


def _is_older(known: dict[str, Any]) -> bool:
    """Whether opening the store changes it for good: another engine, or a schema before this one."""
    now = _present()
    schema = known.get("schema")
    return known.get("engine") != now["engine"] or not isinstance(schema, int) or schema < now["schema"]


def _read(path: Path) -> dict[str, Any]:
    """What the marker says; nothing when it is not there or cannot be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _any(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as found:
        return any(found)
    return False
