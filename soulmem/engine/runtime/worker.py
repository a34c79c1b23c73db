"""A thread beside the event loop that runs functions one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Worker:
    """A thread that runs functions in the order they are submitted.

    Data that only one worker touches needs no lock. Long work is submitted in pieces,
    so that a recall runs in between.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(
        self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The function's result, computed on the worker's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def stop(self) -> None:
        """Accept no more functions; one that runs ends in the background."""
        self._pool.shutdown(wait=False, cancel_futures=True)
