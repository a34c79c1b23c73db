"""What a process of its own does to a store before SoulMem opens it: `python tidy.py URL FOLDER`.

Opening replays what the last run left in the log and merges tables. The engine does that while it holds
Python's lock, which would stop the event loop for seconds; and on some damage it aborts its process.
"""

from __future__ import annotations

import os
import sys

from surrealdb_embedded import SyncEmbeddedDB

_MERGED_AT = 4  # young tables that make the engine merge them when it opens
_VISITS = 8


def tidy(url: str, folder: str) -> None:
    """Open and close the store until the next to open it finds nothing to do."""
    for _ in range(_VISITS):
        before = _tables(folder)
        _visit(url)
        after = _tables(folder)
        merged = (
            not before <= after
        )  # and a merged level may overflow into the next one
        if not merged and len(after) < _MERGED_AT:
            return


def _visit(url: str) -> None:
    engine = SyncEmbeddedDB(url)
    engine.connect()
    engine.close()


def _tables(folder: str) -> set[str]:
    return set(os.listdir(os.path.join(folder, "sstables")))


if __name__ == "__main__":
    tidy(sys.argv[1], sys.argv[2])
