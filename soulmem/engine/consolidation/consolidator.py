"""Consolidation: turns chat into lasting memory, stretch by stretch, with two calls of a language model each.

One call summarises, one drafts everything else. No call starts while a reply is written
or the user types. An unreadable answer is asked for once more, then its input is
deferred. An unavailable model is tried again in a later idle round. Neither stops the
other work, and no messages are lost.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from weakref import WeakKeyDictionary

from soulmem.consolidation.short_term import MarkParams
from soulmem.domain.audit import Actor
from soulmem.domain.derivations import Work
from soulmem.domain.drafts import Drafts, DraftSummary
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.domain.memories import Origin
from soulmem.domain.phrases import Wording
from soulmem.engine.consolidation.backlog import BacklogParams
from soulmem.engine.consolidation.draft_habits import (
    HabitParams,
    habit_change,
    habit_reports,
    texts_to_compare,
)
from soulmem.engine.consolidation.draft_memories import (
    DraftConverter,
    derivation_id,
    summary_change,
)
from soulmem.engine.consolidation.draft_reader import DraftReader
from soulmem.engine.consolidation.next_call import (
    CallLimits,
    NextCall,
    is_current,
    next_call,
)
from soulmem.engine.consolidation.plan import PlannedCall, chat_plan
from soulmem.engine.consolidation.scene_kinds import SceneKinds
from soulmem.engine.consolidation.stretches import EpisodePassage
from soulmem.engine.llm.calls import (
    LlmCalls,
    LlmInterrupted,
    LlmTask,
    ReportProgress,
)
from soulmem.engine.llm.retry import Deferrals, Deferred, RetryParams
from soulmem.engine.llm.sources import LlmAccess
from soulmem.engine.llm.trust import ModelTrust
from soulmem.engine.llm.usage import (
    CONSOLIDATION,
    REPLAY,
    LlmUsage,
    UsageLedger,
    UsageLimits,
)
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.draft_retraction import orphaned_drafts
from soulmem.engine.vectors.encoder import SituationEncoder
from soulmem.engine.world.attempts import Piece
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.ports.clock import Clock

log = logging.getLogger(__name__)

_FULL = timedelta(minutes=5)  # until the next look whether the hour has room


@dataclass(frozen=True, slots=True)
class ConsolidationParams:
    """How much is consolidated at once, when, and within which limits."""

    marks: MarkParams = field(default_factory=MarkParams)
    limits: UsageLimits = field(default_factory=UsageLimits)
    retry: RetryParams = field(default_factory=RetryParams)
    habits: HabitParams = field(default_factory=HabitParams)
    backlog: BacklogParams = field(default_factory=BacklogParams)
    asks_questions: bool = True  # to learn how far a new model can be trusted


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage of language models for a soul, and its work that waits or is due."""

    totals: Mapping[str, LlmUsage]  # by kind of work
    this_hour: LlmUsage  # of all souls
    hourly_limits: UsageLimits
    deferred: Sequence[Deferred]
    unavailable_reason: Wording | None  # why the last call found no model
    due_calls: int = 0  # that the job `consolidate` would make
    due_minutes: float | None = None  # estimate; None without a call since the start


class Consolidator:
    """Consolidates souls. Callers do not hold `World.writing`."""

    def __init__(
        self,
        services: Services,
        *,
        llms: LlmAccess,
        is_busy: Callable[[], bool],
        on_written: Callable[[], None],
        params: ConsolidationParams | None = None,
        encoder: SituationEncoder | None = None,
    ) -> None:
        """`encoder` compares wordings of habits by meaning; without it they are compared by words."""
        self._llms = llms
        self._world_of = services.world_of
        self._compute = services.compute
        self._attempts = services.attempts
        self._clock = services.clock
        self._auditor = services.auditor
        self._on_written = on_written
        self._params = params or ConsolidationParams()
        self.usage = UsageLedger(self._params.limits)
        self.deferrals = Deferrals(self._params.retry)
        self._swept: WeakKeyDictionary[Mind, bool] = WeakKeyDictionary()
        self._encoder = encoder
        self._habit_drafts: WeakKeyDictionary[Mind, dict[ChatId, tuple[str, ...]]] = (
            WeakKeyDictionary()
        )  # derivations that the habits of a chat were last formed from
        self._next_round: datetime | None = None  # of idle work that had to wait
        # Whether the last idle round ended as the hour had no room for its next call.
        self.waits_for_room = False
        self._changes_written = 0
        self.llm_calls = LlmCalls(
            llms=llms,
            compute=services.compute,
            clock=services.clock,
            is_busy=is_busy,
            usage=self.usage,
            deferrals=self.deferrals,
        )
        self.trust = ModelTrust()
        self._draft_reader = DraftReader(
            llm_calls=self.llm_calls,
            trust=self.trust,
            asks_questions=self._params.asks_questions,
        )
        self.scene_kinds = SceneKinds(
            llm_calls=self.llm_calls,
            llms=llms,
            compute=services.compute,
            clock=services.clock,
            encoder=encoder,
            write=self._write,
        )

    async def usage_report(self, owner: Owner, soul: SoulId) -> UsageReport:
        """Usage so far, and what doing the due work would take. Raises NotFound."""
        world = await self._world_of(owner)
        world.soul(soul)
        due_calls = 0
        if self._llms.has_archivist:
            due_calls = await self._due_calls(world, await world.mind(soul))
        seconds = self.usage.seconds_per_call(CONSOLIDATION)
        return UsageReport(
            totals=self.usage.totals(world.owner, soul),
            this_hour=self.usage.this_hour(self._clock.now()),
            hourly_limits=self.usage.params,
            deferred=list(self.deferrals.of_soul(world.owner, soul)),
            unavailable_reason=self.deferrals.unavailable_reason,
            due_calls=due_calls,
            due_minutes=None if seconds is None else due_calls * seconds / 60,
        )

    async def _due_calls(self, world: World, mind: Mind) -> int:
        calls = 0
        for chat in await self._compute.run(_chats, mind):
            chat_log = await world.log(chat)
            if chat_log is not None:
                plan = await self._compute.run(chat_plan, mind, chat_log, self._params.marks)
                calls += plan.calls
        return calls

    async def run_idle(self, worlds: Iterable[World]) -> bool:
        """Idle round: do what is due in the open souls within the hourly limits, last used souls first.

        Returns whether anything was written.
        """
        if not self._llms.has_archivist:
            return False
        self._next_round, self.waits_for_room = None, False
        written_before = self._changes_written
        source = f"idle-{self._clock.now():%Y%m%dT%H%M%S}"  # to undo the round by
        try:
            for world, mind in _by_use(worlds):
                await self._attempts.carry_out(
                    Piece("consolidation", world.owner, mind.soul.id),
                    partial(self._run_due, world, mind, source),
                    name=mind.soul.name,
                    passing=LlmInterrupted,
                )
        except LlmInterrupted as interrupted:
            self.waits_for_room = interrupted.for_room
        if not self.llm_calls.is_busy():
            if self.waits_for_room:
                self._next_round = self._clock.now() + _FULL
            else:
                self._next_round = self.deferrals.next_try()
        return self._changes_written > written_before

    async def _run_due(self, world: World, mind: Mind, source: str) -> None:
        """What is due of a soul in an Idle round."""
        soul = mind.soul.id
        task = LlmTask(world.owner, soul, CONSOLIDATION, source=source)
        await self._run_soul(world, mind, task)
        kinds = LlmTask(world.owner, soul, REPLAY, source=source)
        for chat in await self._compute.run(_chats, mind):
            await self.scene_kinds.run_chat(world, mind, chat, kinds)

    def is_due(self) -> bool:
        """Whether idle work that had to wait may go on."""
        return self._next_round is not None and self._clock.now() >= self._next_round

    def model_changed(self) -> None:
        """Let what had to wait go on, as another model was chosen."""
        current_time = self._clock.now()
        self.deferrals.model_changed(current_time)
        self._next_round = current_time

    async def run_soul(
        self, world: World, mind: Mind, source: str, progress: ReportProgress
    ) -> dict[str, object]:
        """Job: do all that is due in one soul. `progress` may raise to end it."""
        if not self._llms.has_archivist:
            return {}
        task = LlmTask(world.owner, mind.soul.id, CONSOLIDATION, progress, source=source)
        with contextlib.suppress(LlmInterrupted):
            await self._run_soul(world, mind, task)
        return {
            "calls": task.calls_made,
            "memories": task.memories_written,
            "parked": task.failure_lines(),
        }

    async def run_region(
        self,
        world: World,
        mind: Mind,
        chats: Sequence[ChatId],
        within: Set[MemoryId],
        source: str,
        progress: ReportProgress,
    ) -> dict[str, object]:
        """Job: do all that is due in these chats, and name kinds that have a scene `within`."""
        if not self._llms.has_archivist:
            return {}
        task = LlmTask(world.owner, mind.soul.id, REPLAY, progress, source=source)
        with contextlib.suppress(LlmInterrupted):
            for chat in chats:
                await self._run_chat(world, mind, chat, task)
                await self.scene_kinds.run_chat(world, mind, chat, task, within)
        return {
            "calls": task.calls_made,
            "written": task.memories_written,
            "parked": task.failure_lines(),
        }

    async def _run_soul(self, world: World, mind: Mind, task: LlmTask) -> None:
        await self._sweep(world, mind)
        chats = await self._compute.run(_chats, mind)
        self.deferrals.keep_chats(world.owner, mind.soul.id, chats)
        for chat in chats:
            await self._run_chat(world, mind, chat, task)

    async def _run_chat(self, world: World, mind: Mind, chat: ChatId, task: LlmTask) -> None:
        await self._form_habits(world, mind, chat, task)
        while True:
            due = await self._next_call(world, mind, chat, task)
            if due is None:
                break
            await self._carry_out(world, mind, due, task)
        await self._form_habits(world, mind, chat, task)

    async def _form_habits(self, world: World, mind: Mind, chat: ChatId, task: LlmTask) -> None:
        """Store the habits of the chat, unless its drafts are the same as the last time."""
        reports = await self._compute.run(habit_reports, mind, chat)
        drafts = tuple(report.derivation.id for report in reports)
        if self._habit_drafts.setdefault(mind, {}).get(chat, ()) == drafts:
            return
        encoded = None
        if self._encoder is not None:
            encoded = await self._encoder.encode(texts_to_compare(reports))
        make = partial(
            habit_change,
            chat=chat,
            encoded=encoded,
            clock=self._clock,
            params=self._params.habits,
        )
        task.memories_written += await self._write(world, mind, make, task)
        self._habit_drafts[mind][chat] = drafts

    async def _next_call(
        self, world: World, mind: Mind, chat: ChatId, task: LlmTask
    ) -> NextCall | None:
        """The next call that may be made in the chat. Removes outdated summaries before."""
        chat_log = await world.log(chat)
        if chat_log is None or world.minds.get(mind.soul.id) is not mind:
            return None
        limits = self._limits(world, mind, chat, task)
        following = await self._compute.run(next_call, mind, chat_log, limits)
        if following.plan.outdated:
            make = partial(_without_summaries, keys=following.plan.outdated)
            await self._write(world, mind, make, task)
            following = await self._compute.run(next_call, mind, chat_log, limits, following.plan)
        if following.call is None:
            return None
        task.calls_expected = task.calls_made + following.plan.calls
        task.report_progress()
        return following

    def _limits(self, world: World, mind: Mind, chat: ChatId, task: LlmTask) -> CallLimits:
        """What may be called in the chat at this time."""
        current_time = self._clock.now()
        awaited = {}
        if task.is_idle:
            awaited = self.deferrals.awaited(world.owner, mind.soul.id, chat, current_time)
        return CallLimits(
            marks=self._params.marks,
            backlog=self._params.backlog,
            context_tokens=self._llms.context_tokens,
            idle_since=current_time if task.is_idle else None,
            failed={work for where, work in task.failures if where == chat},
            awaited=awaited,
        )

    async def _carry_out(self, world: World, mind: Mind, due: NextCall, task: LlmTask) -> None:
        """Make the call and store its result. Raises LlmInterrupted if no model is available."""
        call, passage, slid = due.call, due.passage, due.plan.slid
        if call is None or passage is None:
            return
        key = (world.owner, mind.soul.id, call.chat, call.work)
        try:
            answer = await self._answer(passage, call.work, task)
        except LlmFailed as failure:
            task.failures[call.chat, call.work] = failure.wording
            log.info("a %s of a chat is put off: %s", call.work.value, failure.message)
            if failure.kind is not Failure.UNREADABLE:
                self.deferrals.model_unavailable(failure.wording, self._clock.now())
                raise LlmInterrupted from failure
            self.deferrals.defer(key, failure.wording, slid, self._clock.now())
            return
        self.deferrals.clear(key)
        make = partial(
            _answer_change,
            call=call,
            passage=passage,
            answer=answer,
            model=task.model,
            clock=self._clock,
        )
        task.memories_written += await self._write(world, mind, make, task)

    async def _answer(
        self, episodes: EpisodePassage, work: Work, task: LlmTask
    ) -> DraftSummary | Drafts:
        """The model's summary or drafts. Raises LlmFailed, LlmInterrupted."""
        passage = episodes.passage
        if not passage.lines:
            is_summary = work is Work.SUMMARY
            return DraftSummary(passage.summary) if is_summary else Drafts()
        if work is Work.SUMMARY:
            return await self._draft_reader.summary(task, passage)
        return await self._draft_reader.drafts(task, passage)

    async def _write(
        self,
        world: World,
        mind: Mind,
        make: Callable[[Mind], MindChange | None],
        task: LlmTask,
    ) -> int:
        """Carry out what `make` makes of the mind as it is by then; the number of memories written."""
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is not mind:
                return 0
            author = ChangeAuthor(Actor.ARCHIVIST, source=task.source, reason=task.work)
            change = await self._auditor.carry_out_made(
                token, world, mind, partial(_sourced, make, task.source), author
            )
        if change is None:
            return 0
        self._changes_written += 1
        nodes = len(change.put_memories)
        if nodes:
            spent = LlmUsage(nodes=nodes)
            self.usage.record(world.owner, mind.soul.id, task.work, spent, self._clock.now())
            self._on_written()
        return nodes

    async def _sweep(self, world: World, mind: Mind) -> None:
        """Once for each opened soul: retract drafts whose messages vanished while the soul was closed."""
        if mind not in self._swept:
            soul = mind.soul.id
            task = LlmTask(world.owner, soul, CONSOLIDATION, source="consolidation")
            await self._write(world, mind, orphaned_drafts, task)
            self._swept[mind] = True


def _sourced(
    make: Callable[[Mind], MindChange | None], source: str, mind: Mind
) -> MindChange | None:
    """What `make` makes of the mind, to be undone by `source`."""
    change = make(mind)
    return None if change is None else change.with_source(source)


def _answer_change(
    mind: Mind,
    call: PlannedCall,
    passage: EpisodePassage,
    answer: DraftSummary | Drafts,
    model: str,
    clock: Clock,
) -> MindChange | None:
    """Stores the answer; None if the chat has changed meanwhile, or another call was quicker."""
    key = derivation_id(mind.soul.id, call)
    if not is_current(mind, call) or mind.derivations.get(key) is not None:
        return None
    current_time = clock.now()
    if isinstance(answer, DraftSummary):
        return summary_change(mind, call, answer, model, current_time)
    turn = mind.lived_turns(clock.extra_turns)
    converter = DraftConverter(mind, call, passage, answer, model, current_time, turn)
    return converter.change()


def _by_use(worlds: Iterable[World]) -> list[tuple[World, Mind]]:
    """The open minds, last used first: the hour may not have room for all."""
    used: list[tuple[float, World, Mind]] = []
    for world in worlds:
        for mind in world.minds.values():
            used.append((world.last_sync.get(mind.soul.id, 0.0), world, mind))
    used.sort(key=lambda entry: -entry[0])
    return [(world, mind) for _, world, mind in used]


def _chats(mind: Mind) -> list[ChatId]:
    """The soul's chats, those with the latest last message first."""
    last = {}
    for branch in mind.branches:
        last[branch.chat] = mind.memories[branch.order[-1]].happened
    return sorted(last, key=lambda chat: (-last[chat].timestamp(), chat))


def _without_summaries(mind: Mind, keys: Sequence[str]) -> MindChange:
    """Removes these versions of a summary and the later ones that continue them."""
    derivations = mind.derivations.with_dependents(keys)
    removed = []
    for derivation in derivations:
        for product in derivation.products:
            memory = mind.memories.get(MemoryId(product.id))
            if memory is not None and memory.origin is Origin.MODEL:
                removed.append(memory.id)
    return MindChange(
        drop_memories=tuple(removed),
        drop_derivations=tuple(derivation.id for derivation in derivations),
        purge_audit=tuple(removed),
    )
