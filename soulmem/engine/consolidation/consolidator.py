"""How does chat become lasting memory at rest? Stretch by stretch, with two calls of a language model each.

One summarises, one drafts everything else. No call starts while a reply is written or the user types. What a
model answers unreadably is asked for once more and then parked; a model that cannot be had is asked for again
in the next quiet moment. Everything else goes on, and nothing of a chat is lost by it.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from weakref import WeakKeyDictionary

from soulmem.consolidation.habits import HabitParams
from soulmem.consolidation.marks import MarkParams
from soulmem.domain.audit import Actor
from soulmem.domain.derivations import Work
from soulmem.domain.drafts import Drafts
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import Origin
from soulmem.engine.consolidation.backlog import BacklogParams, is_backlog
from soulmem.engine.consolidation.draft_habits import formed, seen_in, wordings
from soulmem.engine.consolidation.draft_memories import (
    DraftConverter,
    derivation_id,
    summed_up,
)
from soulmem.engine.consolidation.passages import Reading, reading_of
from soulmem.engine.consolidation.plan import Task, plan_of
from soulmem.engine.consolidation.scene_kinds import SceneKinds
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask, Tell
from soulmem.engine.llm.retry import Deferrals, Deferred, RetryParams
from soulmem.engine.llm.sources import LlmAccess
from soulmem.engine.llm.usage import (
    CONSOLIDATION,
    REPLAY,
    Spent,
    UsageLedger,
    UsageLimits,
)
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.draft_retraction import lost
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.encoder import Reading as Reader
from soulmem.engine.world.audit import Auditor, Hand
from soulmem.engine.world.world import World
from soulmem.ports.clock import Clock
from soulmem.prompts import extraction, summary

log = logging.getLogger(__name__)

_FULL = timedelta(minutes=5)  # until it is looked again whether the hour has room


@dataclass(frozen=True, slots=True)
class ConsolidationParams:
    """How much is consolidated, when, and at what price."""

    marks: MarkParams = field(default_factory=MarkParams)
    limits: UsageLimits = field(default_factory=UsageLimits)
    retry: RetryParams = field(default_factory=RetryParams)
    habits: HabitParams = field(default_factory=HabitParams)
    backlog: BacklogParams = field(default_factory=BacklogParams)


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What a soul's consolidation cost, and what of it waits; `down`: why no model could be had."""

    totals: Mapping[str, Spent]
    this_hour: Spent
    most: UsageLimits
    parked: Sequence[Deferred]
    down: str | None
    due_calls: int = 0  # that a job would make now
    due_minutes: float | None = (
        None  # by what the most recent calls took; None: none since the start
    )


class Consolidator:
    """Consolidates souls. Whoever asks does not hold `World.writing`."""

    def __init__(
        self,
        llms: LlmAccess,
        compute: Worker,
        clock: Clock,
        auditor: Auditor,
        is_busy: Callable[[], bool],
        on_written: Callable[[], None],
        params: ConsolidationParams | None = None,
        reading: Reader | None = None,
    ) -> None:
        """`reading` tells which wordings mean the same; without it words do."""
        self._llms = llms
        self._compute = compute
        self._clock = clock
        self._auditor = auditor
        self._on_written = on_written
        self._params = params or ConsolidationParams()
        self.usage = UsageLedger(self._params.limits)
        self.deferrals = Deferrals(self._params.retry)
        self._swept: WeakKeyDictionary[Mind, bool] = WeakKeyDictionary()
        self._reader = reading
        self._habits: WeakKeyDictionary[Mind, dict[ChatId, tuple[str, ...]]] = (
            WeakKeyDictionary()
        )
        self._again: datetime | None = None
        self._written = 0  # changes
        self.llm_calls = LlmCalls(
            llms, compute, clock, is_busy, self.usage, self.deferrals
        )
        self.scene_kinds = SceneKinds(
            self.llm_calls, llms, compute, clock, reading, self._write
        )

    async def books(self, world: World, soul: SoulId) -> UsageReport:
        """What it cost so far, and what it would cost to do what is due."""
        hour = self.usage.this_hour(self._clock.now())
        parked = list(self.deferrals.of(world.owner, soul))
        totals = self.usage.totals(world.owner, soul)
        calls = (
            await self._due(world, await world.mind(soul))
            if self._llms.has_archivist
            else 0
        )
        seconds = self.usage.seconds_per_call(CONSOLIDATION)
        minutes = None if seconds is None else calls * seconds / 60
        return UsageReport(
            totals,
            hour,
            self.usage.params,
            parked,
            self.deferrals.is_down,
            calls,
            minutes,
        )

    async def _due(self, world: World, mind: Mind) -> int:
        """How many calls are due."""
        count = 0
        for chat in await self._compute.run(_chats, mind):
            chat_log = await world.log(chat)
            if chat_log is not None:
                plan = await self._compute.run(
                    plan_of, mind, chat_log, self._params.marks
                )
                count += plan.calls
        return count

    async def rest(self, worlds: Iterable[World]) -> bool:
        """In a quiet moment: as much as is due in the open souls, those talked to last first, and as the hour
        has room for.

        Returns whether anything was written.
        """
        if not self._llms.has_archivist:
            return False
        self._again = None
        written = self._written
        source = f"idle-{self._clock.now():%Y%m%dT%H%M%S}"  # what it is undone by
        with contextlib.suppress(LlmInterrupted):
            for world, mind in _by_use(worlds):
                this = LlmTask(world.owner, mind.soul.id, CONSOLIDATION, source=source)
                await self._soul(world, mind, this)
                kinds = LlmTask(world.owner, mind.soul.id, REPLAY, source=source)
                for chat in await self._compute.run(_chats, mind):
                    await self.scene_kinds.chat(world, mind, chat, kinds)
        if not self.llm_calls.is_busy():
            now = self._clock.now()
            self._again = (
                self.deferrals.next_try() if self.usage.has_room(now) else now + _FULL
            )
        return self._written > written

    def is_due(self) -> bool:
        """Whether what had to wait may go on, in the same quiet moment."""
        return self._again is not None and self._clock.now() >= self._again

    async def soul(
        self, world: World, mind: Mind, source: str, tell: Tell
    ) -> dict[str, object]:
        """All that is due in one soul, as a job; `tell` hears how far it is and may break it off."""
        if not self._llms.has_archivist:
            return {}
        this = LlmTask(world.owner, mind.soul.id, CONSOLIDATION, tell, source=source)
        with contextlib.suppress(LlmInterrupted):
            await self._soul(world, mind, this)
        return {"calls": this.done, "memories": this.written, "parked": this.parked()}

    async def region(
        self,
        world: World,
        mind: Mind,
        chats: Sequence[ChatId],
        within: Set[MemoryId],
        source: str,
        tell: Tell,
    ) -> dict[str, object]:
        """The same of these chats, and what kinds their scenes are, as far as one of them is `within`."""
        if not self._llms.has_archivist:
            return {}
        this = LlmTask(world.owner, mind.soul.id, REPLAY, tell, source=source)
        with contextlib.suppress(LlmInterrupted):
            for chat in chats:
                await self._chat(world, mind, chat, this)
                await self.scene_kinds.chat(world, mind, chat, this, within)
        return {"calls": this.done, "written": this.written, "parked": this.parked()}

    async def _soul(self, world: World, mind: Mind, this: LlmTask) -> None:
        await self._sweep(world, mind)
        chats = await self._compute.run(_chats, mind)
        self.deferrals.keep(world.owner, mind.soul.id, chats)
        for chat in chats:
            await self._chat(world, mind, chat, this)

    async def _chat(
        self, world: World, mind: Mind, chat: ChatId, this: LlmTask
    ) -> None:
        await self._form_habits(world, mind, chat, this)
        while (due := await self._next(world, mind, chat, this)) is not None:
            await self._carry_out(world, mind, *due, this)
        await self._form_habits(world, mind, chat, this)

    async def _form_habits(
        self, world: World, mind: Mind, chat: ChatId, this: LlmTask
    ) -> None:
        """What its drafts tell of three scenes, where they are not the same as the last time."""
        seen = await self._compute.run(seen_in, mind, chat)
        told = tuple(one.one.id for one in seen)
        if self._habits.setdefault(mind, {}).get(chat, ()) == told:
            return
        read = (
            await self._reader.read(wordings(seen))
            if self._reader is not None
            else None
        )
        make = partial(
            formed, chat=chat, read=read, clock=self._clock, params=self._params.habits
        )
        this.written += await self._write(world, mind, make, this)
        self._habits[mind][chat] = told

    async def _next(
        self, world: World, mind: Mind, chat: ChatId, this: LlmTask
    ) -> tuple[Task, int] | None:
        """The next call that is due in the chat and not parked; and how much of the chat has slid out."""
        chat_log = await world.log(chat)
        if chat_log is None or world.minds.get(mind.soul.id) is not mind:
            return None
        plan = await self._compute.run(plan_of, mind, chat_log, self._params.marks)
        if plan.outdated:
            await self._write(world, mind, partial(_without, keys=plan.outdated), this)
        for task in plan.tasks:
            key = (world.owner, mind.soul.id, chat, task.work)
            again = this.tell is None and self.deferrals.is_parked(
                key, plan.slid, self._clock.now()
            )
            # What was not lived just now waits until somebody accepted its price: by asking for the job.
            waits = this.tell is None and await self._compute.run(
                is_backlog, mind, task, self._clock.now(), self._params.backlog
            )
            if not again and not waits and (chat, task.work) not in this.failed:
                this.left = this.done + plan.calls
                this.told()
                return task, plan.slid
        return None

    async def _carry_out(
        self, world: World, mind: Mind, task: Task, slid: int, this: LlmTask
    ) -> None:
        chat_log = await world.log(task.chat)
        if chat_log is None or not await self._compute.run(_stands, mind, task):
            return
        reading = await self._compute.run(
            reading_of, mind, chat_log, task, self._llms.context_tokens
        )
        key = (world.owner, mind.soul.id, task.chat, task.work)
        try:
            found = await self._answer(reading, task.work, this)
        except LlmFailed as failure:
            this.failed[task.chat, task.work] = failure.message
            log.info("a %s of a chat is put off: %s", task.work.value, failure.message)
            if failure.kind is not Failure.UNREADABLE:
                self.deferrals.down(failure.message, self._clock.now())
                raise LlmInterrupted from failure
            self.deferrals.park(key, failure.message, slid, self._clock.now())
            return
        self.deferrals.forget(key)
        made = partial(
            _made,
            task=task,
            reading=reading,
            found=found,
            model=this.model,
            clock=self._clock,
        )
        this.written += await self._write(world, mind, made, this)

    async def _answer(
        self, reading: Reading, work: Work, this: LlmTask
    ) -> str | Drafts:
        """What the model makes of it. Raises LlmFailed, LlmInterrupted."""
        passage = reading.passage
        if not passage.lines:
            return Drafts() if work is Work.DRAFTS else passage.summary
        if work is Work.SUMMARY:
            return await self.llm_calls.ask(
                this,
                partial(summary.render, passage),
                partial(summary.parse, passage=passage),
            )
        return await self.llm_calls.ask(
            this,
            partial(extraction.render, passage),
            partial(extraction.parse, passage=passage),
        )

    async def _write(
        self,
        world: World,
        mind: Mind,
        make: Callable[[Mind], MindChange | None],
        this: LlmTask,
    ) -> int:
        """Store what was made with its entries, if all that was read still stands; how many memories."""
        async with world.writing:
            if world.minds.get(mind.soul.id) is not mind:
                return 0
            change = await self._compute.run(make, mind)
            if change is None or change == MindChange():
                return 0
            change = change.asked_by(this.source)
            hand = Hand(Actor.ARCHIVIST, source=this.source, reason=this.work)
            await self._auditor.carry_out(world, mind, change, hand)
        self._written += 1
        nodes = len(change.put_memories)
        if nodes:
            spent = Spent(nodes=nodes)
            self.usage.book(
                world.owner, mind.soul.id, this.work, spent, self._clock.now()
            )
            self._on_written()
        return nodes

    async def _sweep(self, world: World, mind: Mind) -> None:
        """Once for each opened soul: what lost its messages while nobody looked."""
        if mind not in self._swept:
            await self._write(
                world,
                mind,
                lost,
                LlmTask(
                    world.owner, mind.soul.id, CONSOLIDATION, source="consolidation"
                ),
            )
            self._swept[mind] = True


def _stands(mind: Mind, task: Task) -> bool:
    """Whether the chat still tells all of it, and what it goes on from stands."""
    holders = mind.lineages.holders
    before = task.after is None or mind.derived.get(task.after) is not None
    return before and all(task.chat in holders(key) for key in task.read)


def _made(
    mind: Mind,
    task: Task,
    reading: Reading,
    found: str | Drafts,
    model: str,
    clock: Clock,
) -> MindChange | None:
    """What the answer becomes; None when the chat has changed meanwhile, or another was quicker."""
    if (
        not _stands(mind, task)
        or mind.derived.get(derivation_id(mind.soul.id, task)) is not None
    ):
        return None
    now = clock.now()
    if isinstance(found, str):
        return summed_up(mind, task, found, model, now)
    return DraftConverter(
        mind, task, reading, found, model, now, mind.turns(clock.extra_turns)
    ).change()


def _by_use(worlds: Iterable[World]) -> list[tuple[World, Mind]]:
    """The open minds, those talked to last first: the hour may not have room for all."""
    minds = [(world, mind) for world in worlds for mind in world.minds.values()]
    return sorted(minds, key=lambda one: -one[0].talked_to.get(one[1].soul.id, 0.0))


def _chats(mind: Mind) -> list[ChatId]:
    """The chats, those told of last first."""
    last = {
        strand.chat: mind.memories[strand.order[-1]].happened
        for strand in mind.lineages
    }
    return sorted(last, key=lambda chat: (-last[chat].timestamp(), chat))


def _without(mind: Mind, keys: Sequence[str]) -> MindChange:
    """Versions of a summary that fit no order of messages any more, and what goes on from them."""
    gone = mind.derived.with_later(keys)
    made = (
        mind.memories.get(MemoryId(product.id))
        for one in gone
        for product in one.products
    )
    known = tuple(m.id for m in made if m is not None and m.origin is Origin.MODEL)
    return MindChange(
        drop_memories=known,
        drop_derivations=tuple(one.id for one in gone),
        purge_audit=known,
    )
