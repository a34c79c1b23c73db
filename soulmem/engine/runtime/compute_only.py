"""Marks functions that work on a mind: they run on a compute thread, never on the event loop."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Set by the tests, before soulmem is imported. In use a marked function is the function itself.
CHECKED = "SOULMEM_CHECK_COMPUTE"

_outermost = threading.local()


def compute_only(function: Callable[P, T]) -> Callable[P, T]:
    """The function; with SOULMEM_CHECK_COMPUTE set, one that raises where soulmem calls it on an event loop.

    A call from a test is let through, and what is called inside of one that was let through.
    """
    if not os.environ.get(CHECKED):
        return function

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if getattr(_outermost, "is_inside", False):
            return function(*args, **kwargs)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith("soulmem.") and _runs_on_loop():
            raise AssertionError(f"{function.__qualname__} computes on the event loop")
        _outermost.is_inside = True
        try:
            return function(*args, **kwargs)
        finally:
            _outermost.is_inside = False

    return checked


def _runs_on_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
