"""Traces of recalls in a folder: one file for each soul, one line for each trace."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from soulmem.adapters.disk_files import folder_error
from soulmem.domain.ids import Owner, SoulId

KEPT = 400  # traces of a soul, 5 kB each: of replies that one still asks about
_SPARE = 80  # further lines in a file before it is rewritten


class FolderTraces:
    """See `TraceLog`. The folder is created with the first trace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._line_counts: dict[Path, int] = {}  # of files that were written to
        self._writing = asyncio.Lock()

    async def add(self, owner: Owner, soul: SoulId, key: str, content: bytes) -> None:
        """See `TraceLog`."""
        async with self._writing:
            await asyncio.to_thread(
                self._with_store_errors,
                self._add,
                self._file(owner, soul),
                key,
                content,
            )

    async def find(self, owner: Owner, key: str) -> bytes | None:
        """See `TraceLog`."""
        return await asyncio.to_thread(self._find, f"{_name(owner)}-*.traces", key)

    async def alter(
        self, owner: Owner, soul: SoulId, edit: Callable[[bytes], bytes | None]
    ) -> None:
        """See `TraceLog`."""
        async with self._writing:
            await asyncio.to_thread(
                self._with_store_errors, self._alter, self._file(owner, soul), edit
            )

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """See `TraceLog`."""
        async with self._writing:
            await asyncio.to_thread(
                self._with_store_errors, self._write, self._file(owner, soul), []
            )

    def _file(self, owner: Owner, soul: SoulId) -> Path:
        return self._folder / f"{_name(owner)}-{_name(soul)}.traces"

    def _with_store_errors(self, action: Callable[..., None], *arguments: object) -> None:
        """Call `action`; raises StoreFull or StoreError instead of OSError."""
        try:
            action(*arguments)
        except OSError as error:
            raise folder_error(self._folder, error) from error

    def _add(self, file: Path, key: str, content: bytes) -> None:
        line_count = self._line_counts.get(file)
        if line_count is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            kept = list(_lines(file))[-KEPT:]
            self._write(file, kept)  # removes a half line that a crash may have left
            line_count = len(kept)
        with file.open("ab") as out:
            out.write(_line(key, content))
        self._line_counts[file] = line_count + 1
        if line_count + 1 > KEPT + _SPARE:
            self._write(file, list(_lines(file))[-KEPT:])

    def _find(self, pattern: str, key: str) -> bytes | None:
        wanted = key.encode()
        for file in self._folder.glob(pattern):
            for line in _lines(file):
                if line.startswith(wanted + b" "):
                    return _content(line)
        return None

    def _alter(self, file: Path, edit: Callable[[bytes], bytes | None]) -> None:
        old, new = list(_lines(file)), []
        for line in old:
            content = _content(line)
            edited = edit(content)
            if edited == content:
                new.append(line)
            elif edited is not None:
                new.append(_line(line.partition(b" ")[0].decode(), edited))
        if new != old:
            self._write(file, new)

    def _write(self, file: Path, lines: Iterable[bytes]) -> None:
        """Replace the file by one with these lines; without lines, delete it."""
        new = list(lines)
        self._line_counts[file] = len(new)
        if not new:
            file.unlink(missing_ok=True)
            return
        fresh = file.with_suffix(".new")
        with fresh.open("wb") as out:
            out.writelines(new)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)


def _name(key: str) -> str:
    """A file name for an id with any characters."""
    return sha256(key.encode()).hexdigest()[:20]


def _line(key: str, content: bytes) -> bytes:
    return key.encode() + b" " + base64.b64encode(zlib.compress(content)) + b"\n"


def _content(line: bytes) -> bytes:
    return zlib.decompress(base64.b64decode(line.partition(b" ")[2]))


def _lines(file: Path) -> Iterator[bytes]:
    """The complete lines of the file; unreadable ones are left out."""
    with suppress(FileNotFoundError), file.open("rb") as lines:
        for line in lines:
            with suppress(zlib.error, binascii.Error):
                if line.endswith(b"\n") and _content(line):
                    yield line
