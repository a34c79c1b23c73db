"""Shortens the pauses of Python's garbage collector."""

from __future__ import annotations

import gc


def spare_the_collector() -> None:
    """Leave what is loaded out of garbage collection: a full one over a large soul takes a second, and over a
    long chat and a model 200 ms.
    """
    gc.collect(1)
    gc.freeze()
