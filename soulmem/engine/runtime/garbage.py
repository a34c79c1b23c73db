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
    """Inside, objects are not collected once they are older; afterwards those present are excluded.

    Who makes many objects at once would have full collections follow each other, for 100 to 250 ms each.
    Several may run at a time, in any thread.
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
