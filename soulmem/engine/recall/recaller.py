"""Recall: from a request to the answer, its trace, and what learning needs of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from weakref import WeakKeyDictionary

from soulmem.domain.calendar import local
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId, new_id
from soulmem.engine.api.requests import RecallMode, RecallRequest, RecallType
from soulmem.engine.api.results import Recalled, Timings, Trace
from soulmem.engine.learning.learner import Learner
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.absence import with_absences
from soulmem.engine.recall.assembly import assemble
from soulmem.engine.recall.climb import Climb, baseline_grade, climb
from soulmem.engine.recall.context import (
    RecallParams,
    RecallQuery,
    build_context,
    build_query,
    score_texts,
    start_cosines,
    unit_query,
)
from soulmem.engine.recall.continuity import with_continuity
from soulmem.engine.recall.decision import (
    Judged,
    judge,
    names_somebody,
    newest_line,
    score_asked_lines,
    without_noise,
)
from soulmem.engine.recall.digest_recall import DigestRecall
from soulmem.engine.recall.drafted_names import with_drafted_names, with_other_names
from soulmem.engine.recall.expansion import activation_of, no_expansion, walk_only
from soulmem.engine.recall.habits import (
    HabitInput,
    HabitParams,
    Habits,
    habit_input_of,
)
from soulmem.engine.recall.late_interaction import interact
from soulmem.engine.recall.line_matches import language_shares
from soulmem.engine.recall.open_questions import with_answers, with_open_questions
from soulmem.engine.recall.pushes import Pushes
from soulmem.engine.recall.query_embedding import EmbeddedQuery, QueryEmbedding
from soulmem.engine.recall.ranking import Ranked, RankingParams, rank
from soulmem.engine.recall.recall_task import (
    PreparedRecall,
    RecallTask,
    TimeBudget,
    asked_vector,
)
from soulmem.engine.recall.traces import Traces, guidance_fields, trace_fields
from soulmem.engine.recall.vector_expansion import match_vectors
from soulmem.engine.recall.walks import WalkingParams, WalkRenewal, Walks
from soulmem.engine.recall.who_is_met import with_talk
from soulmem.engine.recall.working_trace import active_memories
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.kernels.arrays import Float32s
from soulmem.retrieval.action_selection import ActionSelectionParams

CatchUp = Callable[[World, Mind, float], Awaitable[None]]
Flows = Callable[[], Mapping[str, float]]  # share of the walk by edge, >= 0

# Shares of the time budget: that the opening of a soul is waited for, then of what is left of it that missing
# edges, and that vectors and the latest events are waited for.
_OPENING_SHARE = 0.4
_LOADING_SHARE = 0.6
_EVENTS_SHARE = 0.2
_EMBEDDING_SHARE = 0.8
_LESSON_SECONDS = 0.05  # from the start, that learning from the last reply has time
# A search lists a text that scores so many standard deviations above the mean, or this part of the best score if
# that is less. The second alone would hide an answer behind an earlier question in the words of the search.
_STANDS_OUT = 1.0
_ALIKE = 0.5
_TOO_LATE = "the memory of this soul was still being read from disk"
_PARTLY = "the memory of this soul is still being read from disk: this is what is loaded so far"
_CUT = "time was over before all edges were read: {:.0%} of the walk was not followed"


@dataclass(kw_only=True, eq=False)
class Recaller:
    """Answers recalls. Never calls a language model; reads the store only for a soul that is not loaded whole."""

    services: Services
    embedding: EmbeddingService
    learner: Learner
    params: RecallParams
    traces: Traces
    ranking: RankingParams
    walking: WalkingParams
    catch_up: CatchUp

    def __post_init__(self) -> None:
        self._habits = Habits(
            HabitParams(firing=ActionSelectionParams(threshold=self.params.fires_from))
        )
        self._pushes = Pushes(self.ranking.weight)
        self._walks: WeakKeyDictionary[Mind, Walks] = WeakKeyDictionary()
        self.walk_renewal = WalkRenewal(self.services)
        self._queries = QueryEmbedding(self.embedding)
        self._digests = DigestRecall()
        # Tasks that were late go on: the next turn needs the same vectors.
        self._reading: set[asyncio.Task[HabitInput]] = set()

    async def trace(self, owner: Owner, trace_id: str) -> Trace:
        """How an answer came about. Raises NotFound."""
        return await self.traces.find(await self.services.world_of(owner), trace_id)

    async def unit_query(self, trace: Trace) -> Float32s | None:
        """The unit vector of a recall's query; None without a model."""
        texts = [text for text, _ in trace.query]
        vectors = await self.embedding.embed_query(texts)
        return None if vectors is None else unit_query(trace.query, vectors)

    async def recall(self, owner: Owner, request: RecallRequest) -> Recalled:
        """The memories for this moment, within the token and time budget.

        Raises NotFound for an unknown soul or chat.
        """
        world = await self.services.world_of(owner)
        budget = TimeBudget((request.time_budget_ms or self.params.time_budget_ms) / 1000)
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
        if not partly:
            await self.catch_up(world, mind, _EVENTS_SHARE * budget.left)
        query, read = await self._asked(world, mind, request, budget.left)
        push = self._pushes.moment(world, mind, request)
        task = RecallTask(world, mind, request, query, read, push=push)
        habit_input = await self._habit_input(task, budget.left)
        embedded = budget.spent
        await self.learner.drain(max(0.0, _LESSON_SECONDS - embedded))
        cut, prepared = False, None
        if not (partly or mind.residency.whole):
            seconds = _LOADING_SHARE * budget.left
            prepared, complete = await self._load_edges(task, seconds)
            cut = not complete
        answer, trace, flows = await self.services.compute.run(
            self._answer, task, habit_input, prepared
        )
        timings = replace(answer.took_ms, total=1000 * budget.spent, embed=1000 * embedded)
        answer = replace(answer, timed_out=read.late or partly or cut, took_ms=timings)
        if partly:
            trace = replace(trace, notes=(*trace.notes, _PARTLY))
        self._keep_trace(world, request, replace(trace, answer=answer))
        if not partly:
            self.learner.note_recall(world, request, answer, flows, asked_vector(task))
            walks = self._walks.get(mind)
            if walks is not None:
                self.walk_renewal.begin(mind, walks)
            recalled = [memory.id for memory in answer.memories]
            self.services.loader.recalled(world.owner, mind, recalled)
        return answer

    async def search(self, world: World, soul: SoulId, text: str) -> list[MemoryId]:
        """The memories most like this query, best first. Nothing is learned, no trace is kept."""
        # Who searches wants all there is.
        request = RecallRequest(soul, query=text, type=RecallType.QUIET, restraint=0.0)
        mind = await world.mind(soul)
        limit = self.params.time_budget_ms / 1000
        query, read = await self._asked(world, mind, request, limit)
        task = RecallTask(world, mind, request, query, read, with_doubted=True)
        prepared = None
        if not mind.residency.whole:
            prepared, _ = await self._load_edges(task, limit)
        return await self.services.compute.run(self._candidates, task, prepared)

    async def judged(self, owner: Owner, request: RecallRequest) -> Judged:
        """The decision for this moment, without an answer: nothing is learned, no trace is kept."""
        world = await self.services.world_of(owner)
        mind = await world.mind(request.soul)
        limit = self.params.time_budget_ms / 1000
        query, read = await self._asked(world, mind, request, limit)
        task = RecallTask(world, mind, request, query, read)
        return (await self.services.compute.run(self._prepare, task)).judged

    async def _asked(
        self, world: World, mind: Mind, request: RecallRequest, seconds: float
    ) -> tuple[RecallQuery, EmbeddedQuery]:
        """The query, and its vectors as far as they come in time."""
        run = self.services.compute.run
        query = await run(with_other_names, mind, build_query(world, request))
        shares = await run(language_shares, mind)
        return query, await self._queries.embed(query, seconds, shares)

    @compute_only
    def _candidates(self, task: RecallTask, prepared: PreparedRecall | None) -> list[MemoryId]:
        """Runs on the compute thread."""
        prepared = self._up_to_date(task, prepared)
        climbed = self._climb(task.mind, prepared)
        ranked = self._rank(task.mind, prepared, climbed)
        least = min(_STANDS_OUT, _ALIKE * ranked.text.max(initial=0.0))
        alike = (ranked.text > 0.0) & (ranked.text >= least)
        return task.mind.ids_at(ranked.rows[alike].tolist())

    async def _load_edges(self, task: RecallTask, seconds: float) -> tuple[PreparedRecall, bool]:
        """Load those edges of a large soul that the walk needs; False where time ran out."""
        mind = task.mind
        prepared = await self.services.compute.run(self._prepare, task)
        if prepared.baseline.enough:
            return prepared, True
        walks, params = self._walks_of(mind), self.ranking.expansion
        followed = await self.services.loader.follow(
            task.world.owner,
            mind,
            lambda: walk_only(
                mind,
                walks,
                prepared.context,
                prepared.scores,
                params,
                prepared.match,
                prepared.asked_lines,
            ),
            walks.params.walk,
            seconds,
            prepared.context.concepts,
        )
        return prepared, followed.complete

    @compute_only
    def _up_to_date(self, task: RecallTask, prepared: PreparedRecall | None) -> PreparedRecall:
        """`prepared`, or a new one where the mind has changed since: edges were loaded."""
        if prepared is not None and prepared.revision == task.mind.revision:
            return prepared
        return self._prepare(task)

    @compute_only
    def _prepare(self, task: RecallTask) -> PreparedRecall:
        """Context and text scores, and the activation while cosines are computed."""
        mind, began = task.mind, time.perf_counter()
        query = with_continuity(mind, task.query, task.vectors)
        tokens = task.query_tokens(query)
        plain = task.vectors if tokens else without_noise(mind, query, task.vectors)
        cosines = start_cosines(mind, query, plain)
        context = build_context(
            task.world,
            mind,
            task.request,
            query,
            self.params,
            self.services.clock.extra_turns,
            local(self.services.clock.now()),  # days begin where this computer stands
            with_doubted=task.with_doubted,
        )
        if task.vectors is not None:
            asked = unit_query(query.embed_parts, task.vectors)
            context = replace(context, asked=asked)
        context = with_drafted_names(mind, context)
        activation_result = cache(partial(activation_of, mind, context, self.ranking.expansion))
        # Another processor compares vectors: what follows is computed meanwhile where it will be needed.
        ahead = activation_result if names_somebody(mind, context) else None
        fusion, embedded = self.params.fusion, task.embedded
        scores = score_texts(mind, context, cosines, fusion, ahead)
        if tokens is not None:
            scores = interact(mind, context, scores, tokens) or scores
        asked_lines = score_asked_lines(mind, context, embedded, fusion)
        newest = newest_line(context, scores, embedded)
        judged = judge(mind, context, (*newest, *asked_lines))
        judged = with_absences(mind, context, judged)
        judged = with_open_questions(mind, context, judged)
        judged = with_answers(mind, context, judged)
        vectors = self.ranking.expansion.vectors
        match = match_vectors(mind, context, vectors)
        return PreparedRecall(
            context=context,
            scores=scores,
            asked_lines=asked_lines,
            match=match,
            judged=judged,
            baseline=baseline_grade(mind, context, scores, asked_lines, match, judged, began),
            activation_result=activation_result,
            revision=mind.revision,
        )

    def _climb(self, mind: Mind, prepared: PreparedRecall) -> Climb:
        if mind.terms.is_loading:  # each page of edges would make all walks anew
            return Climb((prepared.baseline,), no_expansion(mind))
        return climb(
            mind,
            self._walks_of(mind),
            prepared.context,
            prepared.scores,
            self.ranking.expansion,
            prepared.baseline,
            prepared.match,
            prepared.judged,
            prepared.asked_lines,
            prepared.activation_result,
        )

    def _rank(self, mind: Mind, prepared: PreparedRecall, climbed: Climb) -> Ranked:
        return rank(
            mind,
            prepared.context,
            prepared.scores,
            self.ranking,
            climbed.expansion,
            prepared.judged.lines_that_call(prepared.asked_lines),
            prepared.judged.open_rows(),
        )

    async def _opened(self, world: World, soul: SoulId, seconds: float) -> Mind | None:
        """The soul's mind; after a time limit the part loaded by then, None if nothing is."""
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

    async def _habit_input(self, task: RecallTask, seconds: float) -> HabitInput:
        """The cues that may set a habit off, with their vectors if there is time."""
        most = self._habits.params.sentences
        habit_input = habit_input_of(task.world, task.request, task.query.messages, most)
        habit_input, texts = await self.services.compute.run(
            self._habits.read, task.mind, habit_input, task.vectors
        )
        if not texts:
            return habit_input
        reading = asyncio.create_task(self._read_habits(habit_input, texts))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        waited = max(0.0, _EMBEDDING_SHARE * seconds)
        try:
            return await asyncio.wait_for(asyncio.shield(reading), waited)
        except asyncio.TimeoutError:
            return habit_input

    async def _read_habits(self, habit_input: HabitInput, texts: Sequence[str]) -> HabitInput:
        """A copy with the vectors of these texts, and with the lines that only talk of somebody."""
        encoded = await self.embedding.encoder.encode(texts)
        about = await with_talk(habit_input.about, habit_input.sentences, self.embedding.likeliest)
        return replace(habit_input, encoded=encoded, about=about)

    @compute_only
    def _answer(
        self, task: RecallTask, habit_input: HabitInput, prepared: PreparedRecall | None
    ) -> tuple[Recalled, Trace, Flows | None]:
        """Runs on the compute thread."""
        mind, request = task.mind, task.request
        began = time.perf_counter()
        prepared = self._up_to_date(task, prepared)
        context = prepared.context
        searched = time.perf_counter()
        climbed = self._climb(mind, prepared)
        ranked = self._rank(mind, prepared, climbed)
        habits = self._habits.of(mind, context, habit_input)
        novelty = 0.0 if request.mode is RecallMode.BASELINE else self.params.novelty
        answer, considered = assemble(
            mind,
            context,
            ranked,
            novelty,
            habits,
            judged=prepared.judged,
            pushed=self._pushes.candidates(mind, context, task.push),
            digests=self._digests.candidates(
                mind,
                context,
                prepared.scores,
                prepared.judged,
                self.services.clock.now(),
            ),
        )
        self._pushes.note(task.push, answer)
        done = time.perf_counter()
        timings = Timings(
            search=1000 * (searched - began),
            walk=climbed.milliseconds,
            assemble=1000 * (done - searched) - climbed.milliseconds,
        )
        answer = replace(answer, took_ms=timings)
        trace = Trace(
            id=answer.trace,
            at=self.services.clock.now(),
            soul=request.soul,
            chat=request.chat,
            query=task.query.embed_parts,
            type=request.type.value,
            **trace_fields(mind, ranked, request.mode, climbed.grades[-1]),
            guidance=guidance_fields(mind, context),
            considered=considered,
            answer=answer,
            notes=(*context.notes, *self._not_followed(mind, ranked)),
            grades=climbed.grades,
            working=active_memories(
                mind,
                request,
                answer,
                task.query.embed_parts,
                self.services.clock.extra_turns,
            ),
        )
        return answer, trace, _flows(mind, ranked)

    def _not_followed(self, mind: Mind, ranked: Ranked) -> tuple[str, ...]:
        """A note where the walk reached memories of a large soul whose edges were not loaded."""
        if mind.residency.whole or ranked.walk is None:
            return ()
        error = ranked.walk.walk.error
        return (_CUT.format(error),) if error > self.walking.walk.l1 else ()

    def _walks_of(self, mind: Mind) -> Walks:
        """The walks of a soul, kept as long as its mind."""
        walks = self._walks.get(mind)
        if walks is None:
            walks = self._walks[mind] = Walks(mind, self.walking)
        return walks

    def _too_late(self, world: World, request: RecallRequest, budget: TimeBudget) -> Recalled:
        """The empty answer of a soul that is not loaded yet, with its trace."""
        took = Timings(total=1000 * budget.spent)
        empty = Recalled(new_id("t"), (), (), 0, True, took)
        trace = Trace(
            id=empty.trace,
            at=self.services.clock.now(),
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
        self._keep_trace(world, request, trace)
        return empty

    def _keep_trace(self, world: World, request: RecallRequest, trace: Trace) -> None:
        """Keep the trace; a preview is only looked at and leaves none."""
        if request.type is not RecallType.PREVIEW:
            self.traces.keep(world.owner, trace)


def _flows(mind: Mind, ranked: Ranked) -> Flows | None:
    """A function that computes the flow over each edge after the answer; it returns nothing once the edges have
    changed.
    """
    walk, revision = ranked.walk, mind.edges.revision
    if walk is None:
        return None
    return lambda: walk.flows() if mind.edges.revision == revision else {}
