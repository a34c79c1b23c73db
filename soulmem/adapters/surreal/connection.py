"""A connection used by one caller at a time: checks statuses, retries conflicts, recycles the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from soulmem.adapters.surreal.faults import Conflicting, full, translate
from soulmem.adapters.surreal.link import Link, Statement, Work
from soulmem.domain.errors import (
    StoreBroken,
    StoreError,
    StoreFull,
    StoreGone,
    StoreReadOnly,
)
from soulmem.domain.phrases import phrase
from soulmem.ports.store import StoreHealth

# Bytes of write-ahead log. The engine keeps more than that in memory until it is closed, and at some hundred
# MiB its writes never return. Reopening takes a quarter of a second; in idle time nobody waits for it.
LOG_LIMIT = 24 << 20
QUIET_LOG_LIMIT = 4 << 20
# Bytes read since opening. The engine keeps twice as much in memory until it is closed.
HELD_LIMIT = 96 << 20
# Bytes that must be free on the disk to reopen the store, beside a copy of the log.
ROOM = 4 << 20
# Bytes sent between two checks of the log, which grows about twice as fast.
_LOG_CHECK_BYTES = 2 << 20
_ATTEMPTS = 6
_FIRST_PAUSE = 0.01  # seconds before the second attempt, doubled each time
_NOT_EXECUTED = "The query was not executed"  # because another statement failed

_log = logging.getLogger(__name__)

T = TypeVar("T")
Run = Callable[[Work], Awaitable[list[Any]]]


class Connection:
    """Serialises work on a `Link`, reopens it if needed and keeps the health of the store."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._in_use = False
        # After a failed write the log may end in half a record. The next start would lose what follows it.
        self._needs_reopening = False
        self._written_at_check = 0  # link.written() at the last check of the log
        self._health = StoreHealth()
        self.before_close: Callable[[], None] = _nothing
        self.writes = 0  # how often something was to be written
        # The error after which nothing is written any more.
        self._broken: StoreBroken | StoreGone | None = None

    def health(self) -> StoreHealth:
        """Health of the store after the last statements."""
        return self._health

    async def open(self, prepare: Callable[[Run, str], Awaitable[None]]) -> None:
        """Open the link and call `prepare(run, place)`. If that fails, the link is closed again."""

        async def work() -> None:
            await self._link.open()
            try:
                await prepare(self._checked, self._link.place)
            except BaseException:
                await self._link.close()
                raise
            self._in_use = True

        await self._alone(work)

    async def close(self) -> None:
        """Close the store after the running work has ended."""

        async def work() -> None:
            self._in_use = False
            await self.close_link()

        await self._alone(work)

    async def read(self, work: Callable[[Run], Awaitable[T]]) -> T:
        """Let `work` run queries that change nothing. Nobody else runs any meanwhile."""

        async def alone() -> T:
            self._check_in_use()
            try:
                await self._link.open()
                return await work(self._checked)
            except StoreBroken as error:
                self._broken = error
                self._health = StoreHealth(writable=False, detail=error.wording)
                raise

        return await self._alone(alone)

    def count_read(self, amount: int) -> None:
        """Count bytes that were read beside those in the answers."""
        self._link.count_read(amount)

    async def write(self, query: Work) -> None:
        """Run a query that changes something. Either all of it is stored, or an error is raised and nothing is."""

        async def alone() -> None:
            self._check_in_use()
            if self._broken is not None:
                raise self._broken
            self.writes += 1
            try:
                if self._needs_reopening:
                    await self._recycle()
                await self._link.open()
                await self._checked(query)
                await self._check_place()
            except (StoreFull, StoreReadOnly, StoreBroken) as error:
                self._needs_reopening = True
                self._health = StoreHealth(writable=False, detail=error.wording)
                raise
            self._health = StoreHealth()
            if self._link.written() - self._written_at_check >= _LOG_CHECK_BYTES:
                await self._reopen_if_needed(LOG_LIMIT)

        await self._alone(alone)

    async def check_files(self, check: Callable[[], None]) -> None:
        """If the store is still in its place, call `check` on its files while nobody writes."""

        async def work() -> None:
            self._check_in_use()
            with suppress(StoreGone):
                await self._check_place()
                await asyncio.to_thread(check)

        await self._alone(work)

    async def change_files(self, work: Callable[[Run], Awaitable[T]]) -> T:
        """Let `work` change the files of the store, closed by `close_link` and opened by `open_link` in it."""

        async def alone() -> T:
            self._check_in_use()
            await self._check_place()
            return await work(self._checked)

        return await self._alone(alone)

    async def open_link(self) -> None:
        """Open the files again, in `change_files`."""
        await self._link.open()

    async def close_link(self) -> None:
        """Close the files, in `change_files` and elsewhere under the lock."""
        await asyncio.to_thread(self.before_close)
        await self._link.close()

    async def _check_place(self) -> None:
        """Raises StoreGone, also in all later calls, if the folder was moved or deleted. The engine would go on
        writing to files that have no name any more.
        """
        if self._broken is None and not await asyncio.to_thread(self._link.is_in_place):
            error = StoreGone(
                phrase(
                    "store_gone",
                    "the data folder {place} was moved or deleted while SoulMem was running: nothing"
                    " is stored any more. Put it back, then start SoulMem again",
                    place=self._link.place,
                )
            )
            self._broken = error
            self._health = StoreHealth(writable=False, is_gone=True, detail=error.wording)
        if isinstance(self._broken, StoreGone):
            raise self._broken

    async def reopen_if_needed(self) -> None:
        """Reopen the store if its log is over the limit for idle time, or if it holds too much memory."""

        async def work() -> None:
            self._check_in_use()
            await self._reopen_if_needed(QUIET_LOG_LIMIT)

        await self._alone(work)

    async def _alone(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await `work` under the lock. It continues if the caller is cancelled, as the engine does not stop."""

        async def locked() -> T:
            async with self._lock:
                return await work()

        task = asyncio.ensure_future(locked())
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved, in case the caller was cancelled

    def _check_in_use(self) -> None:
        if not self._in_use:
            raise StoreError(
                phrase(
                    "store_not_open",
                    "the store in {place} is not open",
                    place=self._link.place,
                )
            )

    async def _reopen_if_needed(self, limit: int) -> None:
        """Reopen the store if its log has reached the limit, or if too much was read since it was opened."""
        self._written_at_check = self._link.written()
        if self._link.held() < HELD_LIMIT and await asyncio.to_thread(self._link.log_size) < limit:
            return
        try:
            await self._recycle()
        except StoreError as error:
            # Committed changes stay committed. The next write tries to reopen again, or raises the error.
            self._needs_reopening = True
            self._health = StoreHealth(writable=False, detail=error.wording)

    async def _recycle(self) -> None:
        """Close and open the store: only then the engine moves its log into tables."""
        needed = await asyncio.to_thread(self._link.log_size) + ROOM
        if await asyncio.to_thread(self._link.free) < needed:
            raise full(self._link.place, f"{needed >> 20} MiB must be free")
        await self.close_link()
        await self._link.open()
        self._needs_reopening = False
        _log.debug("write-ahead log of %s recycled", self._link.place)

    async def _checked(self, work: Work) -> list[Any]:
        pause = _FIRST_PAUSE
        for _ in range(_ATTEMPTS - 1):
            statements = await self._link.run(work)
            try:
                return _results(statements, self._link.place)
            except Conflicting:
                await asyncio.sleep(pause)
                pause *= 2
        return _results(await self._link.run(work), self._link.place)


def _nothing() -> None:
    """The default of `before_close`."""


def _results(statements: list[Statement], place: str) -> list[Any]:
    """The results. Raises the error of the statement that failed, not of those that it cancelled."""
    failed = [statement for statement in statements if statement["status"] != "OK"]
    if failed:
        causes = [
            statement
            for statement in failed
            if not str(statement["result"]).startswith(_NOT_EXECUTED)
        ]
        cause = (causes or failed)[0]
        raise translate(f"{_kind(cause)}: {cause['result']}", place)
    return [statement["result"] for statement in statements]


def _kind(statement: Statement) -> str:
    """The engine's name of the error, if it has one."""
    details = statement.get("details")
    return str(details.get("kind")) if isinstance(details, dict) else str(statement.get("kind"))
