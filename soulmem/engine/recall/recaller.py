"""Recall: from a request to the answer, its trace, and what learning needs of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from weakref import WeakKeyDictionary

from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId, new_id
from soulmem.engine.api.requests import RecallMode, RecallRequest, RecallType
from soulmem.engine.api.results import Recalled, Timings, Trace
from soulmem.engine.learning.learner import Learner
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation
from soulmem.engine.recall.assembly import assemble
from soulmem.engine.recall.context import (
    Floats,
    RecallContext,
    RecallParams,
    RecallQuery,
    TextScores,
    build_context,
    build_query,
    score_texts,
    start_cosines,
)
from soulmem.engine.recall.drafted_names import DraftedNames
from soulmem.engine.recall.expansion import activation_of, walk_only
from soulmem.engine.recall.habits import (
    HabitInput,
    HabitParams,
    Habits,
    habit_input_of,
)
from soulmem.engine.recall.ranking import Ranked, RankingParams, rank
from soulmem.engine.recall.trace_fields import trace_fields
from soulmem.engine.recall.traces import Traces
from soulmem.engine.recall.walks import WalkingParams, Walks
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.vectors.encoder import EncodedTexts
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.retrieval import query as queries
from soulmem.retrieval.action_selection import ActionSelectionParams
from soulmem.retrieval.mood import strongest

Flows = Callable[[], Mapping[str, float]]  # share of the walk by edge, >= 0

_ACTIVE = 20  # memories of working memory in a trace
# Shares of the time budget: that the opening of a soul is waited for, then of what is left of it that missing
# edges, and that vectors are waited for.
_OPENING_SHARE = 0.4
_LOADING_SHARE = 0.6
_EMBEDDING_SHARE = 0.8
_LESSON_SECONDS = 0.05  # that learning from the last reply is waited for
_TOO_LATE = "the memory of this soul was still being read from disk"
_PARTLY = "the memory of this soul is still being read from disk: this is what is loaded so far"
_CUT = "time was over before all edges were read: {:.0%} of the walk was not followed"


@dataclass(frozen=True, slots=True)
class _RecallTask:
    """A recall that is being answered; `vectors` has a unit row per part of the query, or is None."""

    world: World
    mind: Mind
    request: RecallRequest
    query: RecallQuery
    vectors: Floats | None
    with_doubted: bool = False  # include memories in doubt


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a recall computes before it expands. Valid for this revision of the mind."""

    context: RecallContext
    scores: TextScores
    activation_result: Callable[[], TermActivation | None]  # computes once
    revision: tuple[int, ...]


class _TimeBudget:
    """The time that a recall has."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the recall began."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float:
        """Seconds until the answer is due; below 0 when it is late."""
        return self.seconds - self.spent


class Recaller:
    """Answers recalls. Never calls a language model; reads the store only for a soul that is not loaded whole."""

    def __init__(
        self,
        services: Services,
        *,
        embedding: EmbeddingService,
        learner: Learner,
        params: RecallParams,
        traces: Traces,
        ranking: RankingParams,
        walking: WalkingParams,
    ) -> None:
        self._world_of = services.world_of
        self._compute = services.compute
        self._embedding = embedding
        self._learner = learner
        self._loader = services.loader
        self._clock = services.clock
        self._params = params
        self.traces = traces
        self._ranking = ranking
        self._walking = walking
        self._habits = Habits(
            HabitParams(firing=ActionSelectionParams(threshold=params.fires_from))
        )
        self._walks: WeakKeyDictionary[Mind, Walks] = WeakKeyDictionary()
        self._drafted: WeakKeyDictionary[Mind, DraftedNames] = WeakKeyDictionary()
        # Tasks that were late go on: the next turn needs the same vectors.
        self._asking: set[asyncio.Task[Floats | None]] = set()
        self._reading: set[asyncio.Task[EncodedTexts | None]] = set()

    async def trace(self, owner: Owner, trace_id: str) -> Trace:
        """How an answer came about. Raises NotFound."""
        return await self.traces.find(await self._world_of(owner), trace_id)

    async def recall(self, owner: Owner, request: RecallRequest) -> Recalled:
        """The memories for this moment, within the token and time budget.

        Raises NotFound for an unknown soul or chat.
        """
        world = await self._world_of(owner)
        budget = _TimeBudget(
            (request.time_budget_ms or self._params.time_budget_ms) / 1000
        )
        soul = world.soul(request.soul)
        if request.chat is not None:
            world.head(request.chat)
        opening = _OPENING_SHARE * budget.seconds
        mind = await self._opened(world, soul.id, opening)
        if mind is None:
            return self._too_late(world, request, budget)
        if request.chat is not None:
            await self._read_chat(world, request.chat, opening - budget.spent)
        partly = soul.id in world.opening
        query = build_query(world, request)
        vectors, late = await self._embed(query.embed_parts, budget.left)
        task = _RecallTask(world, mind, request, query, vectors)
        habit_input = await self._habit_input(task, budget.left)
        embedded = budget.spent
        await self._learner.drain(_LESSON_SECONDS)
        cut, prepared = False, None
        if not (partly or mind.residency.whole):
            seconds = _LOADING_SHARE * budget.left
            prepared, complete = await self._load_edges(task, seconds)
            cut = not complete
        answer, trace, flows = await self._compute.run(
            self._answer, task, habit_input, prepared
        )
        timings = replace(
            answer.took_ms, total=1000 * budget.spent, embed=1000 * embedded
        )
        answer = replace(answer, timed_out=late or partly or cut, took_ms=timings)
        if partly:
            trace = replace(trace, notes=(*trace.notes, _PARTLY))
        self.traces.keep(world.owner, replace(trace, answer=answer))
        if not partly:
            self._learner.note_recall(world, request, answer, flows)
            recalled = [memory.id for memory in answer.memories]
            self._loader.recalled(world.owner, mind, recalled)
        return answer

    async def search(self, world: World, soul: SoulId, text: str) -> list[MemoryId]:
        """The candidates of a recall with this query, best first. Nothing is learned, no trace is kept."""
        request = RecallRequest(soul, query=text, type=RecallType.QUIET)
        mind = await world.mind(soul)
        query = build_query(world, request)
        limit = self._params.time_budget_ms / 1000
        vectors, _ = await self._embed(query.embed_parts, limit)
        task = _RecallTask(world, mind, request, query, vectors, with_doubted=True)
        prepared = None
        if not mind.residency.whole:
            prepared, _ = await self._load_edges(task, limit)
        return await self._compute.run(self._candidates, task, prepared)

    @compute_only
    def _candidates(
        self, task: _RecallTask, prepared: _Prepared | None
    ) -> list[MemoryId]:
        """Runs on the compute thread."""
        ranked = self._rank(task.mind, self._up_to_date(task, prepared))
        return task.mind.ids_at(ranked.rows.tolist())

    async def _load_edges(
        self, task: _RecallTask, seconds: float
    ) -> tuple[_Prepared, bool]:
        """Load those edges of a large soul that the walk needs; False where time ran out."""
        mind = task.mind
        prepared = await self._compute.run(self._prepare, task)
        walks, params = self._walks_of(mind), self._ranking.expansion
        followed = await self._loader.follow(
            task.world.owner,
            mind,
            lambda: walk_only(mind, walks, prepared.context, prepared.scores, params),
            walks.params.walk,
            seconds,
            prepared.context.concepts,
        )
        return prepared, followed.complete

    @compute_only
    def _up_to_date(self, task: _RecallTask, prepared: _Prepared | None) -> _Prepared:
        """`prepared`, or a new one where the mind has changed since: edges were loaded."""
        if prepared is not None and prepared.revision == task.mind.revision:
            return prepared
        return self._prepare(task)

    @compute_only
    def _prepare(self, task: _RecallTask) -> _Prepared:
        """Context and text scores, and the activation while cosines are computed."""
        mind = task.mind
        cosines = start_cosines(mind, task.query, task.vectors)
        context = build_context(
            task.world,
            mind,
            task.request,
            task.query,
            self._params,
            self._clock.extra_turns,
            self._clock.now().astimezone(),  # days begin where this computer stands
            with_doubted=task.with_doubted,
        )
        drafted_names = self._drafted.setdefault(mind, DraftedNames())
        context = drafted_names.added_to(mind, context)
        activation_result = cache(
            partial(activation_of, mind, context, self._ranking.expansion)
        )
        scores = score_texts(
            mind, context, cosines, self._params.fusion, activation_result
        )
        return _Prepared(context, scores, activation_result, mind.revision)

    def _rank(self, mind: Mind, prepared: _Prepared) -> Ranked:
        return rank(
            mind,
            self._walks_of(mind),
            prepared.context,
            prepared.scores,
            self._ranking,
            prepared.activation_result,
        )

    async def _opened(self, world: World, soul: SoulId, seconds: float) -> Mind | None:
        """The soul's memory; after so long what is loaded of it by then, None when that is nothing."""
        opening = asyncio.ensure_future(world.mind(soul))
        try:
            return await asyncio.wait_for(asyncio.shield(opening), seconds)
        except asyncio.TimeoutError:
            return world.minds.get(soul) or world.opening.get(soul)

    async def _read_chat(self, world: World, chat: ChatId, seconds: float) -> None:
        """Have the chat's messages in memory, unless they take longer than that."""
        if world.loaded_log(chat) is None:
            reading = asyncio.ensure_future(world.log(chat))
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(reading), max(0.0, seconds))

    async def _embed(
        self, parts: Sequence[queries.QueryPart], seconds: float
    ) -> tuple[Floats | None, bool]:
        """One unit vector per part, or None; and whether time ran out.

        A late vector is kept for the next turn.
        """
        texts = [text for text, _ in parts]
        asking = asyncio.create_task(self._embedding.embed_query(texts))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        waited = max(0.0, _EMBEDDING_SHARE * seconds)
        try:
            return await asyncio.wait_for(asyncio.shield(asking), waited), False
        except asyncio.TimeoutError:
            return None, True

    async def _habit_input(self, task: _RecallTask, seconds: float) -> HabitInput:
        """What may set a habit off, with its vectors if there is time."""
        most = self._habits.params.sentences
        habit_input = habit_input_of(
            task.world, task.request, task.query.messages, most
        )
        texts = await self._compute.run(
            self._habits.texts, task.mind, habit_input, task.vectors
        )
        if not texts:
            return habit_input
        reading = asyncio.create_task(self._embedding.encoder.encode(texts))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        waited = max(0.0, _EMBEDDING_SHARE * seconds)
        try:
            encoded = await asyncio.wait_for(asyncio.shield(reading), waited)
        except asyncio.TimeoutError:
            return habit_input
        return replace(habit_input, encoded=encoded)

    @compute_only
    def _answer(
        self, task: _RecallTask, habit_input: HabitInput, prepared: _Prepared | None
    ) -> tuple[Recalled, Trace, Flows | None]:
        """Runs on the compute thread."""
        mind, request = task.mind, task.request
        began = time.perf_counter()
        prepared = self._up_to_date(task, prepared)
        context = prepared.context
        searched = time.perf_counter()
        ranked = self._rank(mind, prepared)
        habits = self._habits.of(mind, context, habit_input)
        walked = time.perf_counter()
        novelty = 0.0 if request.mode is RecallMode.BASELINE else self._params.novelty
        answer, considered = assemble(mind, context, ranked, novelty, habits)
        done = time.perf_counter()
        timings = Timings(
            search=1000 * (searched - began),
            walk=1000 * (walked - searched),
            assemble=1000 * (done - walked),
        )
        answer = replace(answer, took_ms=timings)
        asked = context.asked_time
        trace = Trace(
            id=answer.trace,
            at=self._clock.now(),
            soul=request.soul,
            chat=request.chat,
            query=task.query.embed_parts,
            type=request.type.value,
            **trace_fields(mind, ranked, request.mode),
            guidance={
                "mode": request.mode.value,
                "embedded": task.vectors is not None,
                "mood": strongest(context.mood),
                "times": asked.trace_entries() if asked is not None else [],
                "active": _active(mind),
            },
            considered=considered,
            answer=answer,
            notes=(*context.notes, *self._not_followed(mind, ranked)),
        )
        walks, extra = self._walks_of(mind), self._clock.extra_turns
        return answer, trace, _flows(mind, ranked, lambda: walks.renew(extra))

    def _not_followed(self, mind: Mind, ranked: Ranked) -> tuple[str, ...]:
        """A note where the walk reached memories of a large soul whose edges were not loaded."""
        if mind.residency.whole or ranked.walk is None:
            return ()
        error = ranked.walk.walk.error
        return (_CUT.format(error),) if error > self._walking.walk.l1 else ()

    def _walks_of(self, mind: Mind) -> Walks:
        """The walks of a soul, kept as long as its mind."""
        walks = self._walks.get(mind)
        if walks is None:
            walks = self._walks[mind] = Walks(mind, self._walking)
        return walks

    def _too_late(
        self, world: World, request: RecallRequest, budget: _TimeBudget
    ) -> Recalled:
        """The empty answer of a soul of which nothing is loaded, with its trace."""
        took = Timings(total=1000 * budget.spent)
        empty = Recalled(new_id("t"), (), (), 0, True, took)
        trace = Trace(
            id=empty.trace,
            at=self._clock.now(),
            soul=request.soul,
            chat=request.chat,
            query=(),
            type=request.type.value,
            grade="none",
            grade_why=_TOO_LATE,
            seeds=(),
            guidance={},
            considered=(),
            answer=empty,
        )
        self.traces.keep(world.owner, trace)
        return empty


def _flows(mind: Mind, ranked: Ranked, afterwards: Callable[[], None]) -> Flows | None:
    """A function that computes the flow over each edge after the answer, then calls `afterwards`; it returns
    nothing once the edges have changed.
    """
    walk, revision = ranked.walk, mind.edges.revision
    if walk is None:
        return None

    def flows() -> Mapping[str, float]:
        flow = walk.flows() if mind.edges.revision == revision else {}
        afterwards()
        return flow

    return flows


def _active(mind: Mind) -> list[MemoryId]:
    """What was in working memory when the recall came, the latest first."""
    working = mind.recalls.working
    if working is None:
        return []
    return [active.memory for active in working.active(_ACTIVE)]
