"""One handle used by one caller at a time: statuses checked, conflicts retried, the log recycled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from soulmem.adapters.surreal.faults import Conflicting, translate
from soulmem.adapters.surreal.link import Link, Statement, Work
from soulmem.domain.errors import StoreError, StoreFull, StoreReadOnly
from soulmem.ports.store import StoreHealth

LOG_LIMIT = 64 << 20  # bytes of write-ahead log; at some hundred MiB the engine's writes never return
_LOOK_EVERY = 2 << 20  # bytes sent between looks at the log: it grows several times faster than what is sent
_ATTEMPTS = 6
_FIRST_PAUSE = 0.01  # seconds before the second attempt, doubled each time

_log = logging.getLogger(__name__)

T = TypeVar("T")
Run = Callable[[Work], Awaitable[list[Any]]]


class Connection:
    """Serialises work on a `Link`, reopens it when needed and remembers how the store is."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._in_use = False
        self._reopen = False  # after "disk full" the engine refuses writes until it is opened anew
        self._looked_at = 0  # link.written() at the last look at the log
        self._health = StoreHealth()

    def health(self) -> StoreHealth:
        """What the last statements told."""
        return self._health

    async def open(self, prepare: Callable[[Run, str], Awaitable[None]]) -> None:
        """Open the link and let `prepare(run, place)` make the store ready; on failure it is closed again."""

        async def work() -> None:
            await self._link.open()
            self._looked_at = 0
            try:
                await prepare(self._checked, self._link.place)
            except BaseException:
                await self._link.close()
                raise
            self._in_use = True
            self._health = StoreHealth()

        await self._finish(self._alone(work))

    async def close(self) -> None:
        """Let go of the store once the work under way is done."""

        async def work() -> None:
            self._in_use = False
            await self._link.close()

        await self._finish(self._alone(work))

    async def run(self, work: Work) -> list[Any]:
        """Run one query alone; the results of its statements."""
        return await self.session(lambda run: run(work))

    async def session(self, work: Callable[[Run], Awaitable[T]]) -> T:
        """Let `work` run queries while nobody else does."""

        async def ready() -> T:
            await self._make_ready()
            try:
                done = await work(self._checked)
            except (StoreFull, StoreReadOnly) as error:
                self._reopen = True
                self._health = StoreHealth(writable=False, detail=error.message)
                raise
            self._health = StoreHealth()
            await self._look_at_log()
            return done

        return await self._finish(self._alone(ready))

    async def look_at_log(self) -> None:
        """Recycle the log now if it has grown past the limit."""

        async def work() -> None:
            if self._in_use and await asyncio.to_thread(self._link.log_size) >= LOG_LIMIT:
                await self._recycle()

        await self._finish(self._alone(work))

    async def _alone(self, work: Callable[[], Awaitable[T]]) -> T:
        async with self._lock:
            return await work()

    async def _finish(self, work: Awaitable[T]) -> T:
        """Await `work`, which goes on when the caller is cancelled: the engine cannot be stopped half-way."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen by whoever still waits; a caller that went away has no use for it

    async def _make_ready(self) -> None:
        if not self._in_use:
            raise StoreError(f"the store in {self._link.place} is not open")
        if self._reopen:
            await self._link.close()
        await self._link.open()
        self._reopen = False

    async def _look_at_log(self) -> None:
        if self._link.written() - self._looked_at < _LOOK_EVERY:
            return
        self._looked_at = self._link.written()
        if await asyncio.to_thread(self._link.log_size) >= LOG_LIMIT:
            try:
                await self._recycle()
            except StoreError as error:
                # What was committed stays committed; the next caller opens the store again or hears why not.
                self._health = StoreHealth(writable=False, detail=error.message)

    async def _recycle(self) -> None:
        await self._link.close()
        await self._link.open()
        self._looked_at = 0
        _log.debug("write-ahead log of %s recycled", self._link.place)

    async def _checked(self, work: Work) -> list[Any]:
        pause = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            if attempt:
                await asyncio.sleep(pause)
                pause *= 2
            statements = await self._link.run(work)
            try:
                return _results(statements, self._link.place)
            except Conflicting:
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")


def _results(statements: list[Statement], place: str) -> list[Any]:
    """The results, or the error of the statement that failed first (not of those it took along)."""
    failed = [one for one in statements if one["status"] != "OK"]
    if failed:
        cause = next((one for one in failed if _kind(one) not in ("NotExecuted", "Cancelled")), failed[0])
        raise translate(f"{_kind(cause)}: {cause['result']}".lstrip(": "), place)
    return [one["result"] for one in statements]


def _kind(statement: Statement) -> str:
    details = statement.get("details") or {}
    return str(details.get("kind", "")) if isinstance(details, dict) else ""
