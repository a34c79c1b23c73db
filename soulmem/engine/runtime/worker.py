"""A thread beside the event loop that runs functions one at a time; `compute_only` marks what runs there."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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


class Worker:
    """A thread that runs functions in the order they are submitted.

    Data that only one worker touches needs no lock. Long work is submitted in pieces,
    so that a recall runs in between.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's result, computed on the worker's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def stop(self) -> None:
        """Accept no more functions; one that runs ends in the background."""
        self._pool.shutdown(wait=False, cancel_futures=True)
