"""Is the engine's write-ahead log whole? Looked at before the engine, which cuts what it cannot read.

The log is a folder of numbered segments. A segment is a sequence of 32 KiB blocks of records. A record is the
CRC-32 of kind and data (4 bytes, big-endian), the length of the data (2 bytes), its kind (1 byte: whole, or
first, middle, last part) and the data. What is left of a block that has no room for a head is zero.

A record that was cut short at the very end is what a crash leaves, and no damage: nobody was told that it was
stored. Damage is a record that cannot be read with good ones behind it, a segment that is shorter than it was
seen to be, or one that is gone without a later one.
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
    """What is wrong with a log, in words, and how many good records stand behind the first bad one."""

    what: str
    behind: int = 0


def damage_of(folder: Path, seen: Mapping[str, int]) -> Damage | None:
    """What is wrong with the log in `folder`; None when nothing is.

    seen  bytes of each segment by its name, as they were when it was last looked at
    """
    there = segments(folder)
    latest = max(there, default="")
    for name, size in sorted(seen.items()):
        if name not in there and latest <= name:
            return Damage(f"its log {name} is gone")
        if there.get(name, size) < size:
            return Damage(f"its log {name} has {there[name]} bytes of {size}")
    for name in sorted(there):
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
    """How many good records stand behind the first one that cannot be read; None when all can be."""
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
    """The bytes of the record that begins there with its head; 0 when it cannot be read."""
    if start + _HEAD.size > len(data):
        return 0
    checksum, length, kind = _HEAD.unpack_from(data, start)
    size = _HEAD.size + int(length)
    if not 1 <= kind <= _LAST_KIND or size > room or start + size > len(data):
        return 0
    return (
        size
        if zlib.crc32(data[start + _HEAD.size - 1 : start + size]) == checksum
        else 0
    )


def _next_good(data: bytes, position: int) -> int:
    """Where the next record begins that can be read; the end of the data when there is none."""
    while position < len(data):
        if _record(data, position, _BLOCK - position % _BLOCK):
            return position
        position += 1
    return position


class SeenLog:
    """How long the segments of a store's log were when they were last looked at, kept in a file beside it.

    It may lag behind: what is shorter than it says is damaged in any case. It is of one folder: another one
    that took its place, from a backup, is not compared with it.
    """

    def __init__(self, file: Path, store: Path) -> None:
        self._file = file
        self._store = store
        self._known: dict[str, int] = {}

    def read(self) -> dict[str, int]:
        """The bytes of each segment; empty when nothing is known of this folder."""
        try:
            content = json.loads(self._file.read_bytes())
            if content["folder"] != self._folder():
                return {}
            return {str(name): int(size) for name, size in content["segments"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def look(self) -> None:
        """Note how long they are now. A file that cannot be written is left as it is."""
        sizes = segments(self._store / "wal")
        if sizes == self._known:
            return
        fresh = self._file.with_suffix(".new")
        with suppress(OSError):
            fresh.write_text(
                json.dumps({"folder": self._folder(), "segments": sizes}),
                encoding="utf-8",
            )
            fresh.replace(self._file)
            self._known = sizes

    def forget(self) -> None:
        """The store is being closed, which moves the log into tables: how long it was tells nothing now."""
        self._known = {}
        with suppress(OSError):
            self._file.unlink()

    def _folder(self) -> int:
        return self._store.stat().st_ino
