"""A few threads for calls that block, none of which can keep the process from ending."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Workers:
    """Runs functions on at most so many daemon threads, in the order they come."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]]]
        self._waiting = SimpleQueue()
        self._threads = 0
        self._open = 0  # works that wait or run

    async def run(self, work: Callable[[], T]) -> T:
        """The result of the work. Cancelled before a thread took it, it is not done at all."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._waiting.put((work, done))
        self._open += 1
        if self._threads < min(self._open, self._most):
            self._threads += 1
            threading.Thread(
                target=self._work, args=(loop,), name="soulmem-tool", daemon=True
            ).start()
        try:
            return await done
        finally:
            self._open -= 1

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs in a thread of its own."""
        while True:
            work, done = self._waiting.get()
            if done.cancelled():
                continue
            deliver: Callable[[Any], None] = done.set_result
            try:
                value = work()
            except BaseException as error:
                value, deliver = error, done.set_exception
            try:
                loop.call_soon_threadsafe(_hand_over, done, deliver, value)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return


def _hand_over(
    done: asyncio.Future[Any], deliver: Callable[[Any], None], value: Any
) -> None:
    if not done.done():
        deliver(value)
