"""How a question becomes an answer: query, text score, choice, blocks, and the reason for each memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from weakref import WeakKeyDictionary

from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId, new_id
from soulmem.engine.api.requests import RecallMode, RecallRequest, RecallType
from soulmem.engine.api.results import Recalled, Timings, Trace
from soulmem.engine.learning.learner import Learner
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.assembly import assemble
from soulmem.engine.recall.drafted_names import DraftedNames
from soulmem.engine.recall.expansion import spread_ahead
from soulmem.engine.recall.habits import HabitParams, Habits, Moment, moment_of
from soulmem.engine.recall.ranking import (
    Ranked,
    RankingParams,
    mood_now,
    named,
    rank,
    walk_alone,
)
from soulmem.engine.recall.scene import (
    Cue,
    Floats,
    RecallParams,
    Scene,
    Texts,
    cue_of,
    meaning,
    read,
    scene_of,
)
from soulmem.engine.recall.trace_fields import told_of
from soulmem.engine.recall.traces import Traces
from soulmem.engine.recall.walks import WalkingParams, Walks
from soulmem.engine.vectors.embedder import Embedding
from soulmem.engine.vectors.encoder import Read
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.retrieval import query as queries
from soulmem.retrieval.action_selection import ActionSelectionParams
from soulmem.retrieval.mood import strongest

Flows = Callable[[], Mapping[str, float]]  # >= 0 by edge

_ACTIVE = 20  # memories a trace names as active
_OPENING_SHARE = (
    0.4  # of the time budget that a soul which is being opened is waited for
)
_PARTLY = "the memory of this soul is still being read from disk: this is what is loaded so far"
_LOADING_SHARE = 0.6  # of what is left of it that missing edges are waited for
_CUT = "time was over before all edges were read: {:.0%} of the walk was not followed"
_LESSON_SECONDS = 0.05  # what the last reply teaches is waited for so long: mostly it came while we embedded


class Recaller:
    """Answers recalls; never calls a language model, and reads the store only for too large a soul."""

    def __init__(
        self,
        services: Services,
        *,
        embedding: Embedding,
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
        # late ones go on: the next turn asks for the same
        self._asking: set[asyncio.Task[Floats | None]] = set()
        self._reading: set[asyncio.Task[Read | None]] = set()

    async def trace(self, owner: Owner, trace_id: str) -> Trace:
        """How an answer came about. Raises NotFound."""
        return await self.traces.find(await self._world_of(owner), trace_id)

    async def recall(self, owner: Owner, request: RecallRequest) -> Recalled:
        """The memories this moment calls for, within the token and time budget.

        Raises NotFound for an unknown soul or chat.
        """
        world = await self._world_of(owner)
        began = time.perf_counter()
        soul = world.soul(request.soul)
        if request.chat is not None:
            world.head(request.chat)
        limit = (request.time_budget_ms or self._params.time_budget_ms) / 1000
        mind = await self._mind(world, soul.id, _OPENING_SHARE * limit)
        if mind is None:
            return self._too_late(world, request, began)
        if request.chat is not None:
            await self._read_chat(
                world,
                request.chat,
                _OPENING_SHARE * limit - (time.perf_counter() - began),
            )
        partly = soul.id in world.opening
        cue = cue_of(world, request)
        vectors, late = await self._embed(
            cue.meant, limit - (time.perf_counter() - began)
        )
        moment = await self._moment(
            world, mind, request, vectors, limit - (time.perf_counter() - began)
        )
        embedded = time.perf_counter()
        await self._learner.drain(_LESSON_SECONDS)
        cut = False
        if not (partly or mind.residency.whole):
            left = _LOADING_SHARE * (limit - (time.perf_counter() - began))
            cut = await self._fetch(world, mind, request, cue, vectors, left)
        answer, trace, flows = await self._compute.run(
            self._answer, world, mind, request, cue, vectors, moment
        )
        total = time.perf_counter() - began
        timings = replace(
            answer.took_ms, total=1000 * total, embed=1000 * (embedded - began)
        )
        answer = replace(answer, timed_out=late or partly or cut, took_ms=timings)
        if partly:
            trace = replace(trace, notes=(*trace.notes, _PARTLY))
        self.traces.keep(world.owner, replace(trace, answer=answer))
        if not partly:
            self._learner.noted(world, request, answer, flows)
            self._loader.recalled(
                world.owner, mind, [memory.id for memory in answer.memories]
            )
        return answer

    async def search(self, world: World, soul: SoulId, text: str) -> list[MemoryId]:
        """What a recall of these words looks at, the best first. It teaches nothing and leaves no trace."""
        request = RecallRequest(soul, query=text, type=RecallType.QUIET)
        mind = await world.mind(soul)
        cue = cue_of(world, request)
        limit = self._params.time_budget_ms / 1000
        vectors, _ = await self._embed(cue.meant, limit)
        if not mind.residency.whole:
            await self._fetch(world, mind, request, cue, vectors, limit)
        return await self._compute.run(self._found, world, mind, request, cue, vectors)

    def _found(
        self,
        world: World,
        mind: Mind,
        request: RecallRequest,
        cue: Cue,
        vectors: Floats | None,
    ) -> list[MemoryId]:
        """Computes."""
        alike = meaning(mind, cue, vectors)
        scene = self._scene(world, mind, request, cue, with_doubted=True)
        texts = read(mind, scene, alike, self._params.fusion)
        ranked = rank(mind, self._walks_of(mind), scene, texts, self._ranking)
        return [mind.id_at(int(row)) for row in ranked.rows]

    async def _fetch(
        self,
        world: World,
        mind: Mind,
        request: RecallRequest,
        cue: Cue,
        vectors: Floats | None,
        seconds: float,
    ) -> bool:
        """Have those edges of a large soul in memory that the walk needs; returns whether time ran out."""
        scene, texts, first = await self._compute.run(
            self._look, world, mind, request, cue, vectors
        )
        walks = self._walks_of(mind)
        found = await self._loader.follow(
            world.owner,
            mind,
            lambda: walk_alone(mind, walks, scene, texts, self._ranking),
            walks.params.walk,
            seconds,
            first,
        )
        return not found.complete

    def _scene(
        self,
        world: World,
        mind: Mind,
        request: RecallRequest,
        cue: Cue,
        *,
        with_doubted: bool = False,
    ) -> Scene:
        """Computes. Days begin where this computer stands."""
        now, extra = self._clock.now().astimezone(), self._clock.extra_turns
        scene = scene_of(
            world,
            mind,
            request,
            cue,
            self._params,
            extra,
            now,
            with_doubted=with_doubted,
        )
        return self._drafted.setdefault(mind, DraftedNames()).added(mind, scene)

    def _look(
        self,
        world: World,
        mind: Mind,
        request: RecallRequest,
        cue: Cue,
        vectors: Floats | None,
    ) -> tuple[Scene, Texts, list[MemoryId]]:
        """What a recall reads before it walks. Computes."""
        alike = meaning(mind, cue, vectors)
        scene = self._scene(world, mind, request, cue)
        return scene, read(mind, scene, alike, self._params.fusion), named(mind, scene)

    async def _mind(self, world: World, soul: SoulId, seconds: float) -> Mind | None:
        """The soul's memory; after so long what is loaded of it by then, if it is being opened."""
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
        self._asking.add(
            asking := asyncio.create_task(
                self._embedding.question([t for t, _ in parts])
            )
        )
        asking.add_done_callback(self._asking.discard)
        try:
            return await asyncio.wait_for(
                asyncio.shield(asking), max(0.0, 0.8 * seconds)
            ), False
        except asyncio.TimeoutError:
            return None, True

    async def _moment(
        self,
        world: World,
        mind: Mind,
        request: RecallRequest,
        vectors: Floats | None,
        seconds: float,
    ) -> Moment:
        """What could set a habit off, with its vectors if there is time."""
        moment = moment_of(world, request, self._habits.params.thoughts)
        texts = await self._compute.run(self._habits.texts, mind, moment, vectors)
        if not texts:
            return moment
        self._reading.add(
            reading := asyncio.create_task(self._embedding.reading.read(texts))
        )
        reading.add_done_callback(self._reading.discard)
        try:
            read = await asyncio.wait_for(
                asyncio.shield(reading), max(0.0, 0.8 * seconds)
            )
        except asyncio.TimeoutError:
            return moment
        return replace(moment, read=read)

    def _answer(
        self,
        world: World,
        mind: Mind,
        request: RecallRequest,
        cue: Cue,
        vectors: Floats | None,
        moment: Moment,
    ) -> tuple[Recalled, Trace, Flows | None]:
        began = time.perf_counter()
        alike = meaning(mind, cue, vectors)
        scene = self._scene(world, mind, request, cue)
        spread = cache(partial(spread_ahead, mind, scene, self._ranking.reach))
        texts = read(mind, scene, alike, self._params.fusion, spread)
        searched = time.perf_counter()
        ranked = rank(mind, self._walks_of(mind), scene, texts, self._ranking, spread)
        habits = self._habits.of(mind, scene, scene.known, moment)
        walked = time.perf_counter()
        novelty = 0.0 if request.mode is RecallMode.BASELINE else self._params.novelty
        answer, considered = assemble(mind, scene, ranked, novelty, habits)
        done = time.perf_counter()
        timings = Timings(
            search=1000 * (searched - began),
            walk=1000 * (walked - searched),
            assemble=1000 * (done - walked),
        )
        answer = replace(answer, took_ms=timings)
        trace = Trace(
            id=answer.trace,
            at=self._clock.now(),
            soul=request.soul,
            chat=request.chat,
            query=cue.meant,
            type=request.type.value,
            **told_of(mind, ranked, request.mode),
            guidance={
                "mode": request.mode.value,
                "embedded": vectors is not None,
                "mood": strongest(mood_now(mind, scene)),
                "times": scene.asked.told() if scene.asked is not None else [],
                "active": _active(mind),
            },
            considered=considered,
            answer=answer,
            notes=(*scene.notes, *self._not_followed(mind, ranked)),
        )
        walks, extra = self._walks_of(mind), self._clock.extra_turns
        return answer, trace, _flows(mind, ranked, lambda: walks.renew(extra))

    def _not_followed(self, mind: Mind, ranked: Ranked) -> tuple[str, ...]:
        """What there is to say of a walk that went where edges of a large soul were not in memory."""
        lost = (
            0.0
            if mind.residency.whole or ranked.walk is None
            else ranked.walk.walk.error
        )
        return (_CUT.format(lost),) if lost > self._walking.walk.l1 else ()

    def _walks_of(self, mind: Mind) -> Walks:
        """The soul's walks; they go with its mind."""
        walks = self._walks.get(mind)
        if walks is None:
            walks = self._walks[mind] = Walks(mind, self._walking)
        return walks

    def _too_late(self, world: World, request: RecallRequest, began: float) -> Recalled:
        empty = Recalled(
            new_id("t"),
            (),
            (),
            0,
            True,
            Timings(total=1000 * (time.perf_counter() - began)),
        )
        self.traces.keep(
            world.owner,
            Trace(
                empty.trace,
                self._clock.now(),
                request.soul,
                request.chat,
                (),
                request.type.value,
                "none",
                "the memory of this soul was still being read from disk",
                (),
                {},
                (),
                empty,
            ),
        )
        return empty


def _flows(mind: Mind, ranked: Ranked, afterwards: Callable[[], None]) -> Flows | None:
    """What the walk passed over, for whoever asks after the answer, and does then what was put off; nothing
    once the edges are others.
    """
    walk, revision = ranked.walk, mind.edges.revision
    if walk is None:
        return None

    def flows() -> Mapping[str, float]:
        found = walk.flows() if mind.edges.revision == revision else {}
        afterwards()
        return found

    return flows


def _active(mind: Mind) -> list[MemoryId]:
    """What was in working memory when the recall came, the latest first."""
    working = mind.recalls.working
    return (
        [one.memory for one in working.active(_ACTIVE)] if working is not None else []
    )
