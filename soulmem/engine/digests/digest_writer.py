"""Digests of the hours, days, weeks, months and years of a soul, and of its chats.

They are made in Idle, by jobs and by tools. Each is a memory that rests on the messages of its period. It goes
with them, and is made anew only where they changed. Quotations make it; the archivist words it where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from weakref import WeakKeyDictionary

from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.calendar import local, shifted, utc
from soulmem.domain.digests import (
    BY_THEMSELVES,
    CALENDAR,
    DIGESTED,
    Period,
    digest_span,
)
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState
from soulmem.engine.consolidation.backlog import BacklogParams, is_old_digest
from soulmem.engine.digests.digest_plan import (
    DigestState,
    DueDigest,
    digest_state,
    digests_of,
)
from soulmem.engine.digests.digest_texts import (
    Quotation,
    digest_change,
    dropped,
    quotations,
)
from soulmem.engine.digests.digest_wording import DigestWording
from soulmem.engine.llm.calls import LlmTask
from soulmem.engine.llm.usage import DIGEST
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World


class DigestShelving:
    """Moves digests without links onto the shelf. Callers must not hold `World.writing`."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._compute = services.compute
        self._attempts = services.attempts

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """In Idle: shelve the digests of every open soul. Of partly loaded souls the links are not all known."""
        await self._attempts.with_minds("shelving", worlds, self._shelve)

    async def _shelve(self, world: World, mind: Mind) -> None:
        if not mind.residency.whole:
            return
        async with world.writing:
            if world.minds.get(mind.soul.id) is mind:
                digests = await self._compute.run(_unlinked_digests, mind)
                await self._store.shelve(world.owner, mind.soul.id, digests)


@compute_only
def _unlinked_digests(mind: Mind) -> list[MemoryId]:
    """Digests that nothing protects and that have no edges."""
    return [
        memory.id
        for memory in digests_of(mind)
        if not (memory.permanent or memory.locked or mind.edges_of(memory.id))
    ]


PERIODS = CALENDAR
_REASON = str(change_reasons.DIGEST)


@dataclass(frozen=True, slots=True)
class DigestWork:
    """How much is made in one round of Idle.

    highlight_minutes  of a stream that one highlight tells
    at_once   digests that are stored together
    a_round   digests made for one soul; the rest is made in the next round
    calls     digests that the archivist words in a round, the newest first
    share     0..1, of the calls of an hour after which none is worded by itself: what is not consolidated is lost
              sooner
    backlog   what counts as old: that is worded when the user has started the job, as it may be many calls
    """

    highlight_minutes: int = 15
    at_once: int = 8
    a_round: int = 600
    calls: int = 8
    share: float = 0.5
    backlog: BacklogParams = field(default_factory=lambda: BacklogParams(at_once=200))


@dataclass(kw_only=True, eq=False)
class DigestWriter:
    """Makes digests. Callers do not hold `World.writing`."""

    services: Services
    wording: DigestWording
    params: DigestWork = DigestWork()

    def __post_init__(self) -> None:
        self._done: WeakKeyDictionary[Mind, object] = WeakKeyDictionary()

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """Make the due digests of finished periods, for every open soul, without a model."""
        await self.services.attempts.with_minds("digests", worlds, self._make_all)

    async def word_idle(self, worlds: Iterable[World]) -> None:
        """Have the archivist word the newest digests that it did not word yet."""
        await self.services.attempts.with_minds("wording", worlds, self._word_newest)

    async def _word_newest(self, world: World, mind: Mind) -> None:
        p, now = self.params, self.services.clock.now()
        task = LlmTask(world.owner, mind.soul.id, DIGEST, source=_source(now))
        keys = await self.services.compute.run(_newest_first, mind, now, p.backlog)
        most = min(p.calls, self.wording.room(p.share))
        await self.wording.word(world, mind, keys, task, most)

    async def make(
        self,
        world: World,
        task: LlmTask,
        period: Period,
        span: tuple[datetime | None, datetime | None] = (None, None),
        *,
        going_on: bool = False,
        calls: int | None = None,
    ) -> list[MemoryId]:
        """Make what is due of that length, and what it is made from; the ids of all of them, the earliest first.

        `going_on`: that of the present, too. The archivist words the newest `calls` of them, or all.
        """
        mind = await world.mind(task.soul)
        for below in _below(period):
            await self._make(world, mind, below, task.source)
        await self._make(world, mind, period, task.source, going_on=going_on)
        keys = await self.services.compute.run(_within, mind, period, *span)
        if not going_on:
            keys = await self.services.compute.run(_over, mind, keys, self._now())
        await self.wording.word(world, mind, keys[::-1], task, calls)
        return await self.services.compute.run(_present, mind, keys)

    async def make_latest_day(self, world: World, task: LlmTask, context: str) -> MemoryId | None:
        """Make the digest of the day of the latest message, with an eye to `context`; None without messages."""
        mind = await world.mind(task.soul)
        state = await self._state(mind, Period.DAY, going_on=True)
        await self._write(world, mind, state.due[-1:], task.source, context)
        keys = await self.services.compute.run(_within, mind, Period.DAY, None, None)
        await self.wording.word(world, mind, keys[-1:], task, 1)
        return keys[-1] if keys else None

    async def _make_all(self, world: World, mind: Mind) -> None:
        """All periods in Idle, the shorter ones first, at most `a_round` digests.

        Of a period that the card does not want, those that are there are kept up.
        """
        choice = mind.soul.settings.digest
        delay = timedelta(hours=choice.hour)
        seen = (mind.revision, shifted(self._now(), -delay).date(), choice)
        if self._done.get(mind) == seen:
            return
        left = self.params.a_round
        present = await self.services.compute.run(_periods_of, mind)
        for period in DIGESTED:
            is_wanted = period in choice.periods
            if is_wanted or period in present:
                left -= await self._make(
                    world,
                    mind,
                    period,
                    _source(self.services.clock.now()),
                    most=left,
                    only_present=not is_wanted,
                    delay=timedelta() if period is Period.HOUR else delay,
                )
        if left > 0:
            self._done[mind] = (mind.revision, *seen[1:])

    async def _make(
        self,
        world: World,
        mind: Mind,
        period: Period,
        source: str,
        *,
        going_on: bool = False,
        most: int | None = None,
        only_present: bool = False,
        delay: timedelta = timedelta(),
    ) -> int:
        """Make what is due of one length, at most `most`, and drop what is outdated; how many were made.

        `only_present`: none that is missing; `delay` after the end of a period it is due.
        """
        state = await self._state(
            mind, period, going_on=going_on, only_present=only_present, delay=delay
        )
        if state.outdated:
            make = partial(dropped, state.outdated)
            await self._store(world, mind, make, source)
        due = state.due if most is None else state.due[: max(0, most)]
        await self._write(world, mind, due, source)
        return len(due)

    async def _state(
        self,
        mind: Mind,
        period: Period,
        *,
        going_on: bool,
        only_present: bool = False,
        delay: timedelta = timedelta(),
    ) -> DigestState:
        state = partial(digest_state, going_on=going_on, only_present=only_present)
        return await self.services.compute.run(state, mind, period, shifted(self._now(), -delay))

    async def _write(
        self,
        world: World,
        mind: Mind,
        due: Sequence[DueDigest],
        source: str,
        context: str = "",
    ) -> None:
        """Store the due digests, some at once."""
        size = self.params.at_once
        for start in range(0, len(due), size):
            made: list[tuple[DueDigest, list[Quotation]]] = []
            for each in due[start : start + size]:
                quoted = await self.services.compute.run(quotations, mind, each.planned, context)
                made.append((each, quoted))
            make = partial(_changes, made, self.services.clock.now())
            await self._store(world, mind, make, source)

    async def _store(
        self,
        world: World,
        mind: Mind,
        make: Callable[[Mind], MindChange | None],
        source: str,
    ) -> None:
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is not mind:
                return
            author = ChangeAuthor(Actor.ENGINE, source=source, reason=_REASON)
            await self.services.auditor.carry_out_made(token, world, mind, make, author)

    def _now(self) -> datetime:
        """The present, in the zone of this computer."""
        return local(self.services.clock.now())


def _source(now: datetime) -> str:
    """By which a round of Idle is undone."""
    return f"idle-{utc(now):%Y%m%dT%H%M%S}"


def _below(period: Period) -> tuple[Period, ...]:
    """The shorter digests that digests of that length are made from, the shortest first."""
    if period is Period.YEAR:
        return (Period.DAY, Period.MONTH)
    return (Period.DAY,) if period in (Period.WEEK, Period.MONTH) else ()


@compute_only
def _changes(
    made: Sequence[tuple[DueDigest, Sequence[Quotation]]], now: datetime, mind: Mind
) -> MindChange:
    """All of these digests as one change."""
    changes = [digest_change(mind, due, quoted, now) for due, quoted in made]
    return MindChange(
        put_memories=tuple(m for change in changes for m in change.put_memories),
        drop_memories=tuple(m for change in changes for m in change.drop_memories),
        purge_audit=tuple(m for change in changes for m in change.purge_audit),
        put_derivations=tuple(d for change in changes for d in change.put_derivations),
        drop_derivations=tuple(d for change in changes for d in change.drop_derivations),
    )


@compute_only
def _within(
    mind: Mind, period: Period, start: datetime | None, end: datetime | None
) -> list[MemoryId]:
    """The digests in use of that length that lie within the span, the earliest first."""
    out = []
    for memory in _in_use(mind):
        begins, ends = digest_span(memory)
        after = start is None or begins >= start
        if memory.situation.period == period and after and (end is None or ends <= end):
            out.append(memory.id)
    return out


@compute_only
def _over(mind: Mind, keys: Sequence[MemoryId], now: datetime) -> list[MemoryId]:
    """Those of the digests whose period is over."""
    return [key for key in keys if digest_span(mind.memories[key])[1] <= now]


@compute_only
def _present(mind: Mind, keys: Sequence[MemoryId]) -> list[MemoryId]:
    """Those of the digests that are still there."""
    return [key for key in keys if key in mind.memories]


@compute_only
def _periods_of(mind: Mind) -> set[Period]:
    return {Period(m.situation.period) for m in digests_of(mind) if m.situation.period}


@compute_only
def _newest_first(mind: Mind, now: datetime, backlog: BacklogParams) -> list[MemoryId]:
    """The digests that are no backlog, days before all longer ones, each the newest first."""
    order = {period: index for index, period in enumerate(BY_THEMSELVES)}
    wanted = []
    for memory in _in_use(mind):
        period = Period(memory.situation.period)
        if period in order and not is_old_digest(mind, memory.id, now, backlog):
            wanted.append((order[period], -memory.happened.timestamp(), memory.id))
    return [key for _, _, key in sorted(wanted)]


def _in_use(mind: Mind) -> list[Memory]:
    return [m for m in digests_of(mind) if m.state is MemoryState.ACTIVE]
