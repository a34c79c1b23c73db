"""What is done about memory as a whole: the pauses of garbage collection, and what nobody uses any more."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def spare_the_collector() -> None:
    """Leave what is loaded out of garbage collection: a full one over a large soul takes a second, and over a
    long chat and a model 200 ms.
    """
    gc.collect(1)
    gc.freeze()


def give_back() -> None:
    """Let the system have the memory that was freed: glibc keeps hundreds of megabytes after a large read.
    Some 20 ms.
    """
    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
