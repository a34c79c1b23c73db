"""One handle used by one caller at a time: statuses checked, conflicts retried, the log recycled."""

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
from soulmem.ports.store import StoreHealth

# Bytes of write-ahead log. The engine keeps more than as much in memory until it is closed, and at some
# hundred MiB its writes never return. To open it anew takes a quarter of a second, for which nobody waits
# when it is quiet.
LOG_LIMIT = 24 << 20
QUIET_LOG_LIMIT = 4 << 20
HELD_LIMIT = (
    96 << 20
)  # bytes read: the engine keeps twice as much in memory until it is closed
ROOM = (
    4 << 20
)  # bytes that must be free on the disk, beside a copy of the log, to open the store anew
_LOOK_EVERY = (
    2 << 20
)  # bytes sent between looks at the log, which grows about twice as fast
_ATTEMPTS = 6
_FIRST_PAUSE = 0.01  # seconds before the second attempt, doubled each time
_TAKEN_ALONG = "The query was not executed"

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
        # After a failed write the log may end in half a record; the next start would lose what follows it.
        self._suspect = False
        self._looked_at = 0  # link.written() at the last look at the log
        self._health = StoreHealth()
        self.before_close: Callable[[], None] = _nothing
        # What was come upon: from then on nothing is written.
        self._broken: StoreBroken | StoreGone | None = None

    def health(self) -> StoreHealth:
        """What the last statements told."""
        return self._health

    async def open(self, prepare: Callable[[Run, str], Awaitable[None]]) -> None:
        """Open the link and let `prepare(run, place)` make the store ready; on failure it is closed again."""

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
        """Let go of the store once the work under way is done."""

        async def work() -> None:
            self._in_use = False
            await self._leave()

        await self._alone(work)

    async def _leave(self) -> None:
        await asyncio.to_thread(self.before_close)
        await self._link.close()

    async def read(self, work: Callable[[Run], Awaitable[T]]) -> T:
        """Let `work` run queries that change nothing while nobody else runs any."""

        async def alone() -> T:
            self._check_in_use()
            try:
                await self._link.open()
                return await work(self._checked)
            except StoreBroken as error:
                self._broken = error
                self._health = StoreHealth(writable=False, detail=error.message)
                raise

        return await self._alone(alone)

    def pass_over(self, amount: int) -> None:
        """So many bytes were read beside what the answers hold."""
        self._link.pass_over(amount)

    async def write(self, query: Work) -> None:
        """Run a query that changes something; it is stored, or the error is raised and nothing is."""

        async def alone() -> None:
            self._check_in_use()
            if self._broken is not None:
                raise self._broken
            try:
                if self._suspect:
                    await self._recycle()
                await self._link.open()
                await self._checked(query)
                await self._stay_in_place()
            except (StoreFull, StoreReadOnly, StoreBroken) as error:
                self._suspect = True
                self._health = StoreHealth(writable=False, detail=error.message)
                raise
            self._health = StoreHealth()
            if self._link.written() - self._looked_at >= _LOOK_EVERY:
                await self._look_at_log(LOG_LIMIT)

        await self._alone(alone)

    async def look_after(self, look: Callable[[], None]) -> None:
        """See whether the store is still in its place, and `look` at its files while nobody writes."""

        async def work() -> None:
            self._check_in_use()
            with suppress(StoreGone):
                await self._stay_in_place()
                await asyncio.to_thread(look)

        await self._alone(work)

    async def _stay_in_place(self) -> None:
        """Raises StoreGone, now and from then on, when somebody took the folder away: the engine goes on
        writing to files that nobody will find again.
        """
        if self._broken is None and not await asyncio.to_thread(self._link.is_in_place):
            error = StoreGone(
                f"the data folder {self._link.place} was taken away while SoulMem ran: nothing is stored any"
                " more. Put it back, then start SoulMem again"
            )
            self._broken, self._health = (
                error,
                StoreHealth(writable=False, is_gone=True, detail=error.message),
            )
        if isinstance(self._broken, StoreGone):
            raise self._broken

    async def look_round(self) -> None:
        """Open the store anew now if its log has grown past the limit, or if it holds too much memory."""

        async def work() -> None:
            self._check_in_use()
            await self._look_at_log(QUIET_LOG_LIMIT)

        await self._alone(work)

    async def _alone(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await `work` under the lock. It goes on when the caller is cancelled: the engine does not stop."""

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
            task.exception()  # seen by whoever still waits; a caller that went away has no use for it

    def _check_in_use(self) -> None:
        if not self._in_use:
            raise StoreError(f"the store in {self._link.place} is not open")

    async def _look_at_log(self, limit: int) -> None:
        """Open the store anew if its log has reached the limit, or if too much was read since."""
        self._looked_at = self._link.written()
        if (
            self._link.held() < HELD_LIMIT
            and await asyncio.to_thread(self._link.log_size) < limit
        ):
            return
        try:
            await self._recycle()
        except StoreError as error:
            # What was committed stays committed; the next writer tries again or hears why not.
            self._suspect = True
            self._health = StoreHealth(writable=False, detail=error.message)

    async def _recycle(self) -> None:
        """Close and open: the engine moves its log into tables only then."""
        need = await asyncio.to_thread(self._link.log_size) + ROOM
        if await asyncio.to_thread(self._link.free) < need:
            raise full(self._link.place, f"{need >> 20} MiB must be free")
        await self._leave()
        await self._link.open()
        self._suspect = False
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
    """Nobody wants to know when it is closed."""


def _results(statements: list[Statement], place: str) -> list[Any]:
    """The results, or the error of the statement that failed (not of those it took along)."""
    failed = [statement for statement in statements if statement["status"] != "OK"]
    if failed:
        causes = [
            statement
            for statement in failed
            if not str(statement["result"]).startswith(_TAKEN_ALONG)
        ]
        cause = (causes or failed)[0]
        raise translate(f"{_kind(cause)}: {cause['result']}", place)
    return [statement["result"] for statement in statements]


def _kind(statement: Statement) -> str:
    """The engine's name of the error, as far as it gives one."""
    details = statement.get("details")
    return (
        str(details.get("kind"))
        if isinstance(details, dict)
        else str(statement.get("kind"))
    )
