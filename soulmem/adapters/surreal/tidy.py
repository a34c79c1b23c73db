"""Prepares a store in a process of its own before SoulMem opens it: `python tidy.py URL FOLDER`.

Opening replays the log of the last run and merges tables. The engine holds Python's lock meanwhile, which would
block the event loop for seconds; and on some damage it aborts its process.
"""

from __future__ import annotations

import os
import sys

from surrealdb_embedded import SyncEmbeddedDB

_MERGED_AT = 4  # new tables at which the engine merges them on opening
_MAX_OPENINGS = 8


def tidy(url: str, folder: str) -> None:
    """Open and close the store until there is nothing to merge at the next opening."""
    for _ in range(_MAX_OPENINGS):
        before = _tables(folder)
        _open_and_close(url)
        after = _tables(folder)
        merged = not before <= after  # a merged level may overflow into the next one
        if not merged and len(after) < _MERGED_AT:
            return


def _open_and_close(url: str) -> None:
    engine = SyncEmbeddedDB(url)
    engine.connect()
    engine.close()


def _tables(folder: str) -> set[str]:
    return set(os.listdir(os.path.join(folder, "sstables")))


if __name__ == "__main__":
    tidy(sys.argv[1], sys.argv[2])
    # A thread of the engine that is still in Python would abort a process that takes Python apart, which reads as
    # a damaged store.
    os._exit(0)
