"""An event loop that pretends time: it leaps to the next thing that waits, but not while threads compute."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_REAL_SECONDS = 0.02  # for which threads are waited before the loop looks again


class _Leaping(selectors.DefaultSelector):
    """Waits for nothing but real events and threads."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0  # seconds
        self.computing = 0  # calls in threads

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self.computing:
            return super().select(_REAL_SECONDS if timeout is None else min(timeout, _REAL_SECONDS))
        found = super().select(0 if timeout is not None else _REAL_SECONDS)
        if not found and timeout is not None:
            self.now += max(0.0, timeout)
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """`sleep`, `wait_for` and all that goes by the loop's clock take no real time."""

    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._leaping.now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """As ever; until it is done no time passes."""
        self._leaping.computing += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done)
        return future

    def _done(self, _future: object) -> None:
        self._leaping.computing -= 1


def run(work: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result, on a loop of its own."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
