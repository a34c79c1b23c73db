"""Gives back the room of what was deleted: all rows are written into a new store, which takes the old one's place.

The engine keeps the keys of deleted rows for ever. Another process copies the rows from a copy of the files, so
that nothing waits, and counts them; if anything is written meanwhile, the new store is thrown away. The old one is
kept until the new one is open and has rows where it should; a kill at any moment leaves one of the two in place.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from soulmem.adapters.disk_files import replace_file, sync_folder
from soulmem.adapters.surreal.connection import Connection, Run
from soulmem.adapters.surreal.link import DATABASE, NAMESPACE, bound
from soulmem.adapters.surreal.lock import released
from soulmem.adapters.surreal.schema import META, TABLES
from soulmem.domain.errors import StoreBroken, StoreError
from soulmem.domain.phrases import phrase

FORMER = ".former"  # end of the folder name of the old store, while the new one takes its place
WORK = ".rewriting"  # of the folder with the copy of the files and the new store
SIZE = ".size.json"  # of the file with the size of the store after it was rewritten
EXCHANGE = ".exchange.json"  # of the file that says which folder is the new store
# End of the name of the folder with an old store that something else replaced
ASIDE = ".aside-rewriting"
# A store is rewritten when it has grown by this part since the last time. What is copied in all is then some 16
# bytes for each byte that is added; a soul that forgets as much as it learns keeps its size within that part.
_GROWTH = 1 / 16
_LEAST = 1 << 20  # least bytes of growth for which a store is rewritten
_ROOM = 64 << 20  # bytes of the disk that stay free beside two copies
# A copy may take these seconds and one more for so many bytes.
_COPY_SECONDS, _BYTES_A_SECOND = 60.0, 100_000
_LOOK_SECONDS = 0.1  # between two looks at the process that copies
_PROGRAM = Path(__file__).with_name("copy_rows.py")

_log = logging.getLogger(__name__)


class Rewriting:
    """Rewrites the store in `folder`, which `connection` has open."""

    def __init__(self, folder: Path, connection: Connection) -> None:
        self._folder = folder
        self._connection = connection
        self._former = folder.with_name(folder.name + FORMER)
        self._work = folder.with_name(folder.name + WORK)
        self._size_file = folder.with_name(folder.name + SIZE)
        self._exchange_file = folder.with_name(folder.name + EXCHANGE)
        self._failed_size = 0  # of the store when its rows could not be copied

    def recover(self) -> None:
        """Before the store is opened: put the old one back if a kill came before the new one. Raises StoreError.

        Where something else is in its place, as a backup, the old store is moved aside.
        """
        if not self._former.exists():
            return
        if not self._folder.exists():
            self._rename(self._former, self._folder)
        elif self._folder.stat().st_ino != _read(self._exchange_file, "folder"):
            aside = self._folder.with_name(self._folder.name + ASIDE)
            shutil.rmtree(aside, ignore_errors=True)
            self._rename(self._former, aside)

    def take_back(self) -> bool:
        """Put the old store back where the new one cannot be opened; False if there is none. Raises StoreError."""
        if not self._former.exists():
            return False
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir(parents=True, exist_ok=True)
        if self._folder.exists():
            self._rename(self._folder, self._work / "broken")
        self._rename(self._former, self._folder)
        return True

    def tidy(self) -> None:
        """After the store was opened: remove what a kill left of a rewriting."""
        for folder in (self._former, self._work):
            shutil.rmtree(folder, ignore_errors=True)

    async def run_if_due(self) -> None:
        """Rewrite the store if it has grown enough."""
        size = await asyncio.to_thread(_tree_size, self._folder)
        if not await asyncio.to_thread(self._is_due, size):
            return
        try:
            await self._rewrite(size)
        except (StoreError, OSError) as error:
            self._failed_size = size
            _log.warning("%s could not be rewritten: %s", self._folder, error)
        finally:
            await asyncio.to_thread(shutil.rmtree, self._work, ignore_errors=True)

    def _is_due(self, size: int) -> bool:
        last = max(_read(self._size_file, "bytes"), self._failed_size)
        if size < last * (1 + _GROWTH) or size < last + _LEAST:
            return False
        return shutil.disk_usage(self._folder).free >= 2 * size + _ROOM

    async def _rewrite(self, size: int) -> None:
        """Raises StoreError, OSError if that cannot be done; then the old store is in place."""
        copy, fresh = self._work / "copy", self._work / "fresh"
        await asyncio.to_thread(shutil.rmtree, self._work, ignore_errors=True)
        await asyncio.to_thread(self._work.mkdir, parents=True)

        async def copy_files(_run: Run) -> int:
            await asyncio.to_thread(_copy_files, self._folder, copy)
            return self._connection.writes

        writes = await self._connection.read(copy_files)
        process = await asyncio.to_thread(_start, copy, fresh)
        try:
            counts = await self._counts(process, writes, size)
        finally:
            await asyncio.to_thread(_end, process)
        if counts is None:
            return
        exchange = partial(self._exchange, fresh, counts, writes)
        if await self._connection.change_files(exchange):
            await asyncio.to_thread(self._note_size)

    async def _counts(
        self, process: subprocess.Popen[str], writes: int, size: int
    ) -> dict[str, int] | None:
        """The number of rows of each table once all are copied; None if something was written meanwhile.

        Raises StoreError if they cannot be copied.
        """
        end = time.monotonic() + _COPY_SECONDS + size / _BYTES_A_SECOND
        while await asyncio.to_thread(process.poll) is None:
            if self._connection.writes != writes:
                return None
            if time.monotonic() > end:
                raise StoreError(
                    phrase("copy_late", "copying {size} MiB took too long", size=size >> 20)
                )
            await asyncio.sleep(_LOOK_SECONDS)
        answer, errors = await asyncio.to_thread(process.communicate)
        if process.returncode:
            raise StoreError(
                phrase(
                    "rows_uncopied",
                    "its rows could not be copied: {reason}",
                    reason=errors.strip()[-300:],
                )
            )
        return {str(table): int(count) for table, count in json.loads(answer).items()}

    async def _exchange(
        self, fresh: Path, counts: Mapping[str, int], writes: int, run: Run
    ) -> bool:
        """Put the new store into the place of the old one; False if something was written since the copy.

        Raises StoreError, OSError if that fails, after everything is as it was.
        """
        if self._connection.writes != writes:
            return False
        await self._connection.close_link()
        try:
            await self._wait_until_closed()
            await asyncio.to_thread(self._put, fresh)
            await self._connection.open_link()
            if await _filled_tables(run) != {name for name, n in counts.items() if n}:
                raise StoreBroken(
                    phrase("rows_missing", "the new store lacks rows that were copied")
                )
        except (StoreError, OSError):
            await self._connection.close_link()
            await released(self._folder)
            await asyncio.to_thread(self.take_back)
            await self._connection.open_link()
            raise
        await asyncio.to_thread(shutil.rmtree, self._former, ignore_errors=True)
        return True

    async def _wait_until_closed(self) -> None:
        if not await released(self._folder):
            raise StoreError(phrase("store_close_late", "it was not closed in time"))

    def _put(self, fresh: Path) -> None:
        if self._former.exists():
            raise StoreError(
                phrase("former_in_the_way", "{former} is in the way", former=self._former)
            )
        _write(self._exchange_file, "folder", fresh.stat().st_ino)
        self._rename(self._folder, self._former)
        self._rename(fresh, self._folder)

    def _note_size(self) -> None:
        with suppress(OSError):  # without it, the store is rewritten once more
            _write(self._size_file, "bytes", _tree_size(self._folder))

    def _rename(self, old: Path, new: Path) -> None:
        try:
            old.rename(new)
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(
                phrase(
                    "store_unmoved",
                    "{old} could not be moved to {new}: {reason}",
                    old=old,
                    new=new,
                    reason=reason,
                )
            ) from error
        sync_folder(self._folder.parent)


def _start(copy: Path, fresh: Path) -> subprocess.Popen[str]:
    """Start the process that copies the rows. It ends when this one does, as its input ends then."""
    low = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)  # only on Windows
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    task = {
        "source": f"surrealkv://{copy}",
        "target": f"surrealkv://{fresh}",
        "namespace": NAMESPACE,
        "database": DATABASE,
        "schema": [META, TABLES],
    }
    process = subprocess.Popen(
        [sys.executable, "-I", str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        creationflags=low | no_window,
    )
    if process.stdin is not None:
        with suppress(OSError):  # it has ended, and its exit code says so
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
    return process


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    with suppress(OSError, ValueError):
        process.communicate()


async def _filled_tables(run: Run) -> set[str]:
    """The tables that have a row. All rows were counted by the process that copied them: here that would take 12 s
    for 100,000 memories, in which everybody waits.
    """
    (tables,) = await run(bound("RETURN (INFO FOR DB).tables.keys();"))
    sql = "".join(f"SELECT VALUE id FROM {table} LIMIT 1;" for table in tables)
    found = await run(bound(sql))
    return {str(table) for table, ids in zip(tables, found, strict=True) if ids}


def _copy_files(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("LOCK"))


def _tree_size(folder: Path) -> int:
    """Bytes of all files in the folder. Files may vanish meanwhile."""
    size = 0
    for top, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.path.getsize(os.path.join(top, name))
    return size


def _read(file: Path, name: str) -> int:
    """The number of that name in the file; 0 without one that can be read."""
    try:
        return int(json.loads(file.read_bytes())[name])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _write(file: Path, name: str, value: int) -> None:
    """Write a number of that name, completely or not at all. Raises OSError."""
    replace_file(file, json.dumps({name: value}).encode())
