"""Shortens the pauses of Python's garbage collector."""

from __future__ import annotations

import gc


def spare_the_collector() -> None:
    """Exclude all present objects from garbage collection.

    A full collection over a large soul takes a second, and over a long chat and a model
    200 ms.
    """
    gc.collect(1)
    gc.freeze()
