"""Prepares a store in a process of its own before SoulMem opens it: `python tidy.py URL FOLDER`.

Opening replays the log of the last run and merges tables. The engine holds Python's lock meanwhile, which would
block the event loop for seconds; and on some damage it aborts its process.
"""

from __future__ import annotations

import os
import struct
import sys
from itertools import chain

from surrealdb_embedded import SyncEmbeddedDB

_MERGED_AT = 4  # new tables at which the engine merges them on opening
_MAX_OPENINGS = 8
_NUMBERS = 26  # bytes of numbers before the levels in the engine's list of tables


def tidy(url: str, folder: str) -> None:
    """Open and close the store until there is nothing to merge at the next opening."""
    for _ in range(_MAX_OPENINGS):
        before = _tables(folder)
        _open_and_close(url)
        after = _tables(folder)
        merged = not before <= after  # a merged level may overflow into the next one
        if not merged and _new_tables(folder, after) < _MERGED_AT:
            return


def _open_and_close(url: str) -> None:
    engine = SyncEmbeddedDB(url)
    engine.connect()
    engine.close()


def _tables(folder: str) -> set[str]:
    return set(os.listdir(os.path.join(folder, "sstables")))


def _new_tables(folder: str, tables: set[str]) -> int:
    """How many tables were never merged: the first level of the engine's list. Where that cannot be read, all.

    Each opening adds one, so counting all would merge a store of three levels twice at each start.
    """
    try:
        levels = _levels(os.path.join(folder, "manifest"))
    except (OSError, ValueError, struct.error):
        return len(tables)
    if set(chain(*levels)) != set(map(_number, tables)):
        return len(tables)
    return len(levels[0]) if levels else 0


def _levels(folder: str) -> list[tuple[int, ...]]:
    """The numbers of the tables of each level. Raises OSError, ValueError and struct.error.

    The file, big-endian: some numbers, the count of levels in a byte, of each level its count of tables in four
    bytes and their numbers in eight bytes each.
    """
    (name,) = os.listdir(folder)
    with open(os.path.join(folder, name), "rb") as file:
        data = file.read()
    (count,) = struct.unpack_from(">B", data, _NUMBERS)
    place, levels = _NUMBERS + 1, list[tuple[int, ...]]()
    for _ in range(count):
        (size,) = struct.unpack_from(">I", data, place)
        levels.append(struct.unpack_from(f">{size}Q", data, place + 4))
        place += 4 + 8 * size
    return levels


def _number(table: str) -> int:
    return int(os.path.splitext(table)[0])


if __name__ == "__main__":
    tidy(sys.argv[1], sys.argv[2])
    # A thread of the engine that is still in Python would abort a process that takes Python apart, which reads as
    # a damaged store.
    os._exit(0)
