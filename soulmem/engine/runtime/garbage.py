"""Shortens the pauses of Python's garbage collector."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NEVER = 1_000_000  # rounds of the collector's middle generation before a full one
_lock = threading.Lock()
_blocks = 0  # of `no_full_collections` that run
_usual = gc.get_threshold()


def spare_the_collector() -> None:
    """Exclude all present objects from garbage collection.

    A full collection over a large soul takes a second, and over a long chat and a model
    200 ms.
    """
    gc.collect(1)
    gc.freeze()


@contextmanager
def no_full_collections() -> Iterator[None]:
    """No full garbage collection runs inside the block; afterwards all present objects are excluded from it.

    Code that makes many objects at once would set off one full collection after another, of 100 to 250 ms each.
    Several blocks may run at a time, in any thread: the last to end restores the thresholds.
    """
    global _blocks, _usual
    with _lock:
        if not _blocks:
            _usual = gc.get_threshold()
            gc.set_threshold(_usual[0], _usual[1], _NEVER)
        _blocks += 1
    try:
        yield
    finally:
        gc.freeze()
        with _lock:
            _blocks -= 1
            if not _blocks:
                gc.set_threshold(*_usual)
