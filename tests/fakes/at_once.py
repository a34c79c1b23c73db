"""An executor that computes on the caller's thread: what is handed over is done when it is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class AtOnce(ThreadPoolExecutor):
    """For many short lives in a row: a change of threads takes longer than what they compute."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The finished future."""
        done: Future[T] = Future()
        loop = asyncio._get_running_loop()
        asyncio._set_running_loop(None)  # in its own thread it would see none, and might read files
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:
            done.set_exception(error)
        finally:
            asyncio._set_running_loop(loop)
        return done
