"""Finds damage in the engine's write-ahead log, before the engine truncates what it cannot read.

The log is a folder of numbered segments. A segment is a sequence of 32 KiB blocks of records. A record is the
CRC-32 of kind and data (4 bytes, big-endian), the length of the data (2 bytes), its kind (1 byte: whole, or
first, middle, last part) and the data. The rest of a block that has no room for a head is zero.

An incomplete record at the very end is the result of a crash, not damage: it was never acknowledged. Damage is
an unreadable record with good ones behind it, a segment that is shorter than before, or one that is missing
without a later one.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 32 << 10
_HEAD = struct.Struct(">IHB")  # checksum, length, kind
_LAST_KIND = 4
_SEGMENT = "*.wal"


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage of a log in words, and the number of good records behind the first unreadable one."""

    what: str
    behind: int = 0


def damage_of(folder: Path, seen: Mapping[str, int]) -> Damage | None:
    """The damage of the log in `folder`, or None.

    seen  bytes of each segment by its name, as of the last check
    """
    sizes = segments(folder)
    latest = max(sizes, default="")
    for name, size in sorted(seen.items()):
        if name not in sizes and latest <= name:
            return Damage(f"its log {name} is gone")
        if sizes.get(name, size) < size:
            return Damage(f"its log {name} has {sizes[name]} bytes of {size}")
    for name in sorted(sizes):
        behind = _behind_damage((folder / name).read_bytes())
        if behind:
            return Damage(f"its log {name} cannot be read in the middle", behind)
    return None


def segments(folder: Path) -> dict[str, int]:
    """The bytes of each segment by its name."""
    sizes = {}
    with suppress(OSError):
        for file in folder.glob(_SEGMENT):
            with suppress(OSError):
                sizes[file.name] = file.stat().st_size
    return sizes


def _behind_damage(data: bytes) -> int | None:
    """The number of good records behind the first unreadable one; None if all are readable."""
    position, first_bad, behind = 0, -1, 0
    while position < len(data):
        room = _BLOCK - position % _BLOCK
        if room < _HEAD.size:
            position += room
            continue
        size = _record(data, position, room)
        if size:
            behind += first_bad >= 0
            position += size
        else:
            first_bad = position if first_bad < 0 else first_bad
            position = _next_good(data, position + 1)
    return None if first_bad < 0 else behind


def _record(data: bytes, start: int, room: int) -> int:
    """Bytes of the record at `start`, head included; 0 if it cannot be read."""
    if start + _HEAD.size > len(data):
        return 0
    checksum, length, kind = _HEAD.unpack_from(data, start)
    size = _HEAD.size + int(length)
    if not 1 <= kind <= _LAST_KIND or size > room or start + size > len(data):
        return 0
    return size if zlib.crc32(data[start + _HEAD.size - 1 : start + size]) == checksum else 0


def _next_good(data: bytes, position: int) -> int:
    """Position of the next readable record; the end of the data if there is none."""
    while position < len(data):
        if _record(data, position, _BLOCK - position % _BLOCK):
            return position
        position += 1
    return position


class SeenLog:
    """The last known length of each segment of a store's log, kept in a file beside the store.

    The file may lag behind; a segment that is shorter is damaged in any case. It belongs to one folder: a folder
    that replaced it, from a backup, is not compared with it.
    """

    def __init__(self, file: Path, store: Path) -> None:
        self._file = file
        self._store = store
        self._written: dict[str, int] = {}  # content of the file

    def read(self) -> dict[str, int]:
        """Bytes of each segment by name; empty if the file is not about this folder."""
        try:
            content = json.loads(self._file.read_bytes())
            if content["folder"] != self._folder():
                return {}
            return {str(name): int(size) for name, size in content["segments"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def update(self) -> None:
        """Store the present lengths. If the file cannot be written, it stays as it is."""
        sizes = segments(self._store / "wal")
        if sizes == self._written:
            return
        fresh = self._file.with_suffix(".new")
        with suppress(OSError):
            fresh.write_text(
                json.dumps({"folder": self._folder(), "segments": sizes}),
                encoding="utf-8",
            )
            fresh.replace(self._file)
            self._written = sizes

    def forget(self) -> None:
        """Delete the lengths, because closing the store moves its log into tables."""
        self._written = {}
        with suppress(OSError):
            self._file.unlink()

    def _folder(self) -> int:
        return self._store.stat().st_ino
