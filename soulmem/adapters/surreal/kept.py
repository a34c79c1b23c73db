"""The embedded store with its backups: copied before another version takes it over, never opened when parts
of it are missing, and told how to come back when it cannot be read.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from soulmem import __version__
from soulmem.adapters.backup_folder import Backup, BackupFolder
from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.faults import translate
from soulmem.adapters.surreal.log_scan import Damage, SeenLog, damage_of, segments
from soulmem.adapters.surreal.schema import MIGRATIONS
from soulmem.adapters.surreal.store import SurrealStore
from soulmem.domain.errors import StoreBroken, StoreError, StoreLocked, StoreTooNew
from soulmem.ports.store import StoreHealth

MARKER = "store.json"  # beside the store: which SoulMem used it last
SEEN = "store.log.json"  # beside the store: how long its log was
DAMAGED = "damaged-"  # how the names of folders begin that hold a damaged log
_ENGINE = "surrealdb-embedded"
_WHAT = "what.txt"
_LOOK = 2.0  # seconds between looks at the folder


class KeptStore(SurrealStore):
    """A store in `data / name`, and the `Backups` of it."""

    def __init__(self, data: Path, name: str, backups: BackupFolder) -> None:
        super().__init__(f"surrealkv://{data / name}")
        self._data = data
        self._folder = data / name
        self._backups = backups
        self._seen = SeenLog(data / SEEN, self._folder)
        self._connection.before_close = (
            self._seen.forget
        )  # closing moves the log into tables
        self._losses: tuple[str, ...] = ()
        self._watch: asyncio.Task[None] | None = None

    def health(self) -> StoreHealth:
        """See `Store`."""
        return replace(super().health(), losses=self._losses)

    async def open(self) -> None:
        """See `Store`. Also raises StoreError when the copy before an upgrade cannot be made."""
        await asyncio.to_thread(self._before)
        try:
            await super().open()
        except StoreLocked:
            raise
        except StoreBroken as error:
            raise StoreBroken(
                await asyncio.to_thread(self._way_back, error.message)
            ) from error
        await asyncio.to_thread(self._after)
        await self._connection.look_after(self._seen.look)
        if self._watch is None:
            self._watch = asyncio.create_task(self._look_after())

    async def close(self) -> None:
        """See `Store`."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        await super().close()

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            with suppress(StoreError):
                await self._connection.look_after(self._seen.look)

    async def last(self, before: datetime) -> datetime | None:
        """See `Backups`."""
        backups = await asyncio.to_thread(self._backups.all)
        return next((backup.made for backup in backups if backup.made <= before), None)

    async def make(self, current_time: datetime) -> str:
        """See `Backups`. Others wait for the copying only, not while it is packed."""
        place = await asyncio.to_thread(self._backups.place_for_copy, self._folder)

        async def copy(_run: Run) -> None:
            await asyncio.to_thread(self._backups.copy, self._folder, place)

        await self._connection.read(copy)
        made: Backup = await asyncio.to_thread(self._backups.pack, place, current_time)
        return str(made.path)

    def _before(self) -> None:
        """Look before the engine does: it would make a new, empty store where it misses its list of files."""
        marker = _read(self._data / MARKER)
        if is_locked(self._folder):
            return  # whoever has it will be named
        has_list = _any(self._folder / "manifest")
        if not has_list and (marker or _any(self._folder / "sstables")):
            raise StoreBroken(
                self._way_back(f"files of the store in {self._folder} are missing")
            )
        schema = marker.get("schema")
        if isinstance(schema, int) and schema > len(MIGRATIONS):
            raise StoreTooNew(
                f"the data in {self._folder} was written by a newer SoulMem (schema {schema}; this one knows "
                f"{len(MIGRATIONS)}): update SoulMem, or choose another folder with --data"
            )
        self._backups.tidy()
        damage = (
            damage_of(self._folder / "wal", self._seen.read()) if has_list else None
        )
        if damage is not None:
            self._set_aside(damage)
        self._seen.forget()  # opening moves the log into tables, and may be killed between two steps of that
        self._losses = tuple(
            _told(aside) for aside in sorted(self._data.glob(f"{DAMAGED}*"))
        )
        if has_list and _is_other(marker):
            place = self._backups.place_for_copy(self._folder)
            self._backups.copy(self._folder, place)
            self._backups.pack(place, datetime.now(timezone.utc), upgrade=True)

    def _after(self) -> None:
        marker = _present()
        if _read(self._data / MARKER) == marker:
            return
        with suppress(OSError):  # then there is only one copy more the next time
            fresh = self._data / f"{MARKER}.new"
            fresh.write_text(json.dumps(marker), encoding="utf-8")
            fresh.replace(self._data / MARKER)

    def _set_aside(self, damage: Damage) -> None:
        """Copy the log before the engine cuts it, and write down what was seen. Raises StoreFull, StoreError:
        then the engine is not let near it.
        """
        current_time = datetime.now(timezone.utc)
        place = self._data / f"{DAMAGED}{current_time:%Y%m%dT%H%M%S%fZ}"
        newest = next(iter(self._backups.all()), None)
        at_least = f" (at least {damage.behind} changes)" if damage.behind else ""
        words = (
            f"{current_time:%Y-%m-%d %H:%M} UTC: the store in {self._folder} was damaged: {damage.what}. What was"
            f" stored last is missing{at_least}. The damaged log is kept in {place}. Open your chats in"
            " SillyTavern: what they say is read again. What you wrote by hand since may be in "
            + (
                f"the backup of {newest.made:%Y-%m-%d %H:%M} UTC ({newest.path}; `soulmem restore --newest`)"
                if newest is not None
                else "a copy of your own: SoulMem has made no backup yet"
            )
            + ". When you need this no more, delete that folder."
        )
        try:
            place.mkdir()
            for name in segments(self._folder / "wal"):
                shutil.copyfile(self._folder / "wal" / name, place / name)
            (place / _WHAT).write_text(words, encoding="utf-8")
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            raise translate(str(error), str(self._data)) from error

    def _way_back(self, reason: str) -> str:
        """The reason, and what to do: nothing was changed, and there is a backup or none."""
        backups = self._backups.all()
        if not backups:
            return (
                f"{reason}. Nothing was deleted. There is no backup in {self._backups.folder}: put the files"
                f" back from a copy of your own, or move {self._folder} and {self._data / MARKER} away to"
                " begin anew"
            )
        newest = backups[0]
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
    return {
        "soulmem": __version__,
        "engine": metadata.version(_ENGINE),
        "schema": len(MIGRATIONS),
    }


def _is_other(marker: dict[str, Any]) -> bool:
    """Whether another SoulMem or another engine used the store last: opening it may change it for good."""
    return marker != _present()


def _told(aside: Path) -> str:
    """What was written down when a damaged log was set aside."""
    try:
        return (aside / _WHAT).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return f"a damaged log of the store is kept in {aside}"


def _read(path: Path) -> dict[str, Any]:
    """What the marker says; nothing when it is not there or cannot be read."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _any(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as entries:
        return any(entries)
    return False
