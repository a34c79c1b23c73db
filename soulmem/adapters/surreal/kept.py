"""The embedded store with its backups.

It is copied before another version of SoulMem opens it. It is not opened if files are missing. If it cannot be
read, the error says how to restore it.
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
from soulmem.adapters.surreal.lock import is_locked
from soulmem.adapters.surreal.log_scan import Damage, SeenLog, damage_of, segments
from soulmem.adapters.surreal.rewriting import Rewriting
from soulmem.adapters.surreal.schema import VERSION
from soulmem.adapters.surreal.store import SurrealStore
from soulmem.adapters.surreal.versions import check_version
from soulmem.domain.errors import StoreBroken, StoreError, StoreLocked
from soulmem.domain.phrases import Phrase, Wording, phrase
from soulmem.ports.store import StoreHealth

MARKER = "store.json"  # beside the store: the version of SoulMem that used it last
SEEN = "store.log.json"  # beside the store: the last known length of its log
DAMAGED = "damaged-"  # prefix of folders that hold a damaged log
_ENGINE = "surrealdb-embedded"
_UNFINISHED_REPAIR = "repair_temp"  # the engine's folder in that of the log
_DESCRIPTION = "what.txt"  # in such a folder: what happened
_CHECK_SECONDS = 2.0  # between two checks of the folder


class KeptStore(SurrealStore):
    """A store in `data / name`, and the `Backups` of it."""

    def __init__(self, data: Path, name: str, backups: BackupFolder) -> None:
        super().__init__(f"surrealkv://{data / name}")
        self._data = data
        self._folder = data / name
        self._backups = backups
        self._seen = SeenLog(data / SEEN, self._folder)
        # Closing moves the log into tables.
        self._connection.before_close = self._seen.forget
        self._rewriting = Rewriting(self._folder, self._connection)
        self._losses: tuple[str, ...] = ()
        self._watch: asyncio.Task[None] | None = None

    def health(self) -> StoreHealth:
        """See `Store`."""
        return replace(super().health(), losses=self._losses)

    async def open(self) -> None:
        """See `Store`. Also raises StoreError if the backup before an upgrade cannot be made."""
        await asyncio.to_thread(self._prepare)
        try:
            await self._open_or_take_back()
        except StoreLocked:
            raise
        except StoreBroken as error:
            raise StoreBroken(await asyncio.to_thread(self._with_remedy, error.wording)) from error
        await asyncio.to_thread(self._rewriting.tidy)
        await asyncio.to_thread(self._write_marker)
        await self._connection.check_files(self._seen.update)
        if self._watch is None:
            self._watch = asyncio.create_task(self._keep_checking())

    async def _open_or_take_back(self) -> None:
        """Open the store, or the one before it where it was just rewritten and cannot be opened."""
        try:
            await super().open()
        except StoreLocked:
            raise
        except StoreBroken:
            if not await asyncio.to_thread(self._rewriting.take_back):
                raise
            await super().open()

    async def compact(self) -> None:
        """See `Store`."""
        await self._rewriting.run_if_due()

    async def close(self) -> None:
        """See `Store`."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        await super().close()

    async def _keep_checking(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            with suppress(StoreError):
                await self._connection.check_files(self._seen.update)

    async def last(self, before: datetime) -> datetime | None:
        """See `Backups`."""
        backups = await asyncio.to_thread(self._backups.all)
        return next((backup.made for backup in backups if backup.made <= before), None)

    async def make(self, current_time: datetime) -> str:
        """See `Backups`. Other work waits while the files are copied, not while they are packed."""
        place = await asyncio.to_thread(self._backups.place_for_copy, self._folder)

        async def copy(_run: Run) -> None:
            await asyncio.to_thread(self._backups.copy, self._folder, place)

        await self._connection.read(copy)
        made: Backup = await asyncio.to_thread(self._backups.pack, place, current_time)
        return str(made.path)

    def _prepare(self) -> None:
        """Check the files before the engine opens them.

        If its list of files is missing, the engine would create a new, empty store.
        """
        marker = _read_json(self._data / MARKER)
        if is_locked(self._folder):
            return  # opening raises an error that says so
        self._rewriting.recover()
        has_list = _has_entries(self._folder / "manifest")
        if not has_list and (marker or _has_entries(self._folder / "sstables")):
            raise StoreBroken(
                self._with_remedy(
                    phrase(
                        "store_files_missing",
                        "files of the store in {store} are missing",
                        store=self._folder,
                    )
                )
            )
        schema = marker.get("schema")
        if isinstance(schema, int):
            check_version(schema, self._folder)
        self._backups.tidy()
        # The engine cuts an incomplete record off by a copy of the log. Where that was broken off, as by a full
        # disk, the next start would take the half copy for the log.
        shutil.rmtree(self._folder / "wal" / _UNFINISHED_REPAIR, ignore_errors=True)
        damage = damage_of(self._folder / "wal", self._seen.read()) if has_list else None
        if damage is not None:
            self._set_aside(damage)
        # Opening moves the log into tables, and the process may be killed in the middle of that.
        self._seen.forget()
        self._losses = tuple(
            _description(aside) for aside in sorted(self._data.glob(f"{DAMAGED}*"))
        )
        if has_list and _is_other_version(marker):
            place = self._backups.place_for_copy(self._folder)
            self._backups.copy(self._folder, place)
            self._backups.pack(place, datetime.now(timezone.utc), upgrade=True)

    def _write_marker(self) -> None:
        marker = _present_version()
        if _read_json(self._data / MARKER) == marker:
            return
        with suppress(OSError):  # without the marker, the next start makes a backup
            fresh = self._data / f"{MARKER}.new"
            fresh.write_text(json.dumps(marker), encoding="utf-8")
            fresh.replace(self._data / MARKER)

    def _set_aside(self, damage: Damage) -> None:
        """Copy the damaged log, because the engine truncates it, and describe the damage in a file.

        Raises StoreFull or StoreError; then the store is not opened.
        """
        current_time = datetime.now(timezone.utc)
        place = self._data / f"{DAMAGED}{current_time:%Y%m%dT%H%M%S%fZ}"
        newest = next(iter(self._backups.all()), None)
        at_least = f" (at least {damage.behind} changes)" if damage.behind else ""
        if newest is None:
            source = "a copy of your own: SoulMem has made no backup yet"
        else:
            source = (
                f"the backup of {newest.made:%Y-%m-%d %H:%M} UTC"
                f" ({newest.path}; `soulmem restore --newest`)"
            )
        description = (
            f"{current_time:%Y-%m-%d %H:%M} UTC: the store in {self._folder} was damaged: {damage.what}. The"
            f" last changes are missing{at_least}. The damaged log is kept in {place}. Open your chats in"
            " SillyTavern, and they are read again. What you wrote by hand since then may be in"
            f" {source}. When you no longer need this note, delete that folder."
        )
        try:
            place.mkdir()
            for name in segments(self._folder / "wal"):
                shutil.copyfile(self._folder / "wal" / name, place / name)
            (place / _DESCRIPTION).write_text(description, encoding="utf-8")
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            raise translate(str(error), str(self._data)) from error

    def _with_remedy(self, reason: Wording) -> Phrase:
        """The reason, and how to restore the store with or without a backup."""
        backups = self._backups.all()
        if not backups:
            return phrase(
                "store_without_backup",
                "{reason}. Nothing was deleted. There is no backup in {backups}: restore the files"
                " from a copy of your own, or move {store} and {marker} away to"
                " start with an empty store",
                reason=reason,
                backups=self._backups.folder,
                store=self._folder,
                marker=self._data / MARKER,
            )
        newest = backups[0]
        return phrase(
            "store_with_backup",
            "{reason}. Nothing was deleted. The newest backup is of {made} UTC ({backup}). To use it:"
            " stop SoulMem, run `soulmem restore --newest --data {data}`, start SoulMem again."
            " The damaged files are kept in a folder beside it",
            reason=reason,
            made=f"{newest.made:%Y-%m-%d %H:%M}",
            backup=newest.path,
            data=self._data,
        )


def _present_version() -> dict[str, Any]:
    return {
        "soulmem": __version__,
        "engine": metadata.version(_ENGINE),
        "schema": VERSION,
    }


def _is_other_version(marker: dict[str, Any]) -> bool:
    """Whether another version of SoulMem or of the engine used the store last. Opening may then convert it."""
    return marker != _present_version()


def _description(aside: Path) -> str:
    """The description that was written when a damaged log was set aside."""
    try:
        return (aside / _DESCRIPTION).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return f"a damaged log of the store is kept in {aside}"


def _read_json(path: Path) -> dict[str, Any]:
    """The object in the file; empty if the file is missing or unreadable."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _has_entries(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as entries:
        return any(entries)
    return False
