"""How a question becomes an answer: query, text score, choice, blocks, and the reason for each memory."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.compose import Budget, Line, Text, language_of, line_of
from soulmem.assembly.why import Cause, Reason, sentence
from soulmem.conversation.episodes import memorable
from soulmem.conversation.sync import without_held
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import ChatId, MemoryId, SlotId, new_id
from soulmem.domain.memories import Memory
from soulmem.engine.answers import (
    Block,
    BlockItem,
    Considered,
    PathStep,
    Recalled,
    RecalledMemory,
    Timings,
    Trace,
)
from soulmem.engine.embedding import Embedding
from soulmem.engine.mind import Mind
from soulmem.engine.requests import RecallRequest, RecallType
from soulmem.engine.worker import Worker
from soulmem.engine.world import World
from soulmem.ports.clock import Clock
from soulmem.retrieval import query as queries
from soulmem.retrieval.diversity import choose
from soulmem.retrieval.fusion import Evidence, FusionParams, fuse

Floats = NDArray[np.float32]

_CONSIDERED = 60  # best rows looked at more closely
_TAG_BOOST = 0.5  # standard deviations per tag asked for; boosts, never filters
_TRACES = 500
_LABEL = 40  # characters of a memory that name it in a path


@dataclass(frozen=True, slots=True)
class RecallParams:
    """What a request leaves open."""

    budget_tokens: int = 1200  # design 4.6
    max_items: int = 8  # api: 1..50
    time_budget_ms: int = 1500  # design promise 5
    novelty: float = 0.15  # 0..1, against repeating oneself
    fusion: FusionParams = field(default_factory=FusionParams)


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a recall may see and asks for; everything the compute thread needs."""

    request: RecallRequest
    parts: tuple[queries.Part, ...]
    visible: NDArray[np.bool_]
    budget: int
    max_items: int
    extra_turns: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Best rows first, with what made their score."""

    rows: NDArray[np.int64]
    score: Floats
    dense: Floats
    lexical: Floats
    own: Floats  # score without the neighbours' share
    position: NDArray[np.int64]  # of every row in its chat


class Recaller:
    """Answers recalls; never calls a language model and never reads the store."""

    def __init__(self, compute: Worker, embedding: Embedding, clock: Clock, params: RecallParams) -> None:
        self._compute = compute
        self._embedding = embedding
        self._clock = clock
        self._params = params
        self._traces: OrderedDict[tuple[str, str], Trace] = OrderedDict()
        self._asking: set[asyncio.Task[Floats | None]] = (
            set()
        )  # late ones go on: the next turn asks for the same

    def trace(self, owner: str, trace: str) -> Trace:
        """How an answer came about. Raises NotFound for one that is unknown or too old."""
        found = self._traces.get((owner, trace))
        if found is None:
            raise NotFound(
                f"no trace {trace!r}: the last {_TRACES} are kept until the sidecar stops", field="trace"
            )
        return found

    async def recall(self, world: World, request: RecallRequest) -> Recalled:
        """The memories this moment calls for, within the token and time budget."""
        began = time.perf_counter()
        soul = world.soul(request.soul)
        if request.chat is not None:
            world.head(request.chat)
        limit = (request.time_budget_ms or self._params.time_budget_ms) / 1000
        opening = asyncio.ensure_future(world.mind(soul.id))
        try:
            mind = await asyncio.wait_for(asyncio.shield(opening), limit)
        except asyncio.TimeoutError:
            return self._too_late(world, request, began)
        parts = self._parts(world, request)
        vectors, late = await self._embed(parts, limit - (time.perf_counter() - began))
        embedded = time.perf_counter()
        answer, trace = await self._compute.run(self._answer, world, mind, request, parts, vectors)
        total = time.perf_counter() - began
        timings = replace(answer.took_ms, total=1000 * total, embed=1000 * (embedded - began))
        answer = replace(answer, timed_out=late, took_ms=timings)
        self._keep(world.owner, replace(trace, answer=answer))
        return answer

    def _parts(self, world: World, request: RecallRequest) -> tuple[queries.Part, ...]:
        if request.query is not None:
            parts = queries.from_text(request.query)
        else:
            parts = queries.from_messages([m.text for m in _last_messages(world, request)])
        if request.intent:
            parts = [(text, 0.8 * weight) for text, weight in parts] + [
                (request.intent, 0.2 if parts else 1.0)
            ]
        return tuple(parts)

    async def _embed(self, parts: Sequence[queries.Part], seconds: float) -> tuple[Floats | None, bool]:
        """One unit vector per part, or None; and whether time ran out.

        A late vector is kept for the next turn.
        """
        self._asking.add(asking := asyncio.create_task(self._embedding.question([t for t, _ in parts])))
        asking.add_done_callback(self._asking.discard)
        try:
            return await asyncio.wait_for(asyncio.shield(asking), max(0.0, 0.8 * seconds)), False
        except asyncio.TimeoutError:
            return None, True

    def _answer(
        self,
        world: World,
        mind: Mind,
        request: RecallRequest,
        parts: tuple[queries.Part, ...],
        vectors: Floats | None,
    ) -> tuple[Recalled, Trace]:
        began = time.perf_counter()
        scene = self._scene(world, mind, request, parts)
        ranked = self._rank(mind, scene, vectors)
        searched = time.perf_counter()
        answer, considered = self._assemble(mind, scene, ranked)
        done = time.perf_counter()
        timings = Timings(search=1000 * (searched - began), assemble=1000 * (done - searched))
        answer = replace(answer, took_ms=timings)
        seeds = tuple(
            (mind.at(int(row)).id, float(score))
            for row, score in zip(ranked.rows[:10], ranked.score[:10], strict=False)
        )
        trace = Trace(
            id=answer.trace,
            at=self._clock.now(),
            soul=request.soul,
            chat=request.chat,
            query=parts,
            type=request.type.value,
            grade="baseline",
            grade_why="text and meaning, with the moments beside them",
            seeds=seeds,
            guidance={"mode": request.mode.value, "embedded": vectors is not None},
            considered=considered,
            answer=answer,
            notes=scene.notes,
        )
        return answer, trace

    def _scene(
        self, world: World, mind: Mind, request: RecallRequest, parts: tuple[queries.Part, ...]
    ) -> _Scene:
        chat = request.chat
        family = world.family(chat) if chat is not None else None
        visible = mind.visible(chat, family, world.holds)
        notes: list[str] = []
        if chat is not None and request.context_from is not None:
            inside = _inside(world, chat, request.context_from)
            if inside is None:
                notes.append(
                    f"context_from {request.context_from!r} is no message of this chat and was ignored"
                )
            else:
                visible[mind.rows_from(chat, inside)] = False
        if request.time_range is not None:
            start, end = request.time_range.start, request.time_range.end
            when = mind.happened[: mind.size]
            if start is not None:
                visible &= when >= start.timestamp()
            if end is not None:
                visible &= when < end.timestamp()
        settings = mind.soul.settings
        return _Scene(
            request=request,
            parts=parts,
            visible=visible,
            budget=request.budget_tokens or settings.budget_tokens or self._params.budget_tokens,
            max_items=request.max_items or settings.max_items or self._params.max_items,
            extra_turns=self._clock.extra_turns,
            notes=tuple(notes),
        )

    def _rank(self, mind: Mind, scene: _Scene, vectors: Floats | None) -> _Ranked:
        n = mind.size
        nothing = np.full(n, np.nan, np.float32)
        turn = pair_in = pair_out = nothing
        beside = mind.neighbours(scene.request.chat)
        own_table, pair_table = mind.vectors, mind.pair_vectors
        if vectors is not None and own_table and pair_table and vectors.shape[1] == own_table.dim:
            cue = np.asarray([w for _, w in scene.parts], np.float32) @ vectors
            cue /= max(float(np.linalg.norm(cue)), 1e-9)
            turn = own_table.cosines(cue, n)
            pairs = np.append(pair_table.cosines(cue, mind.pair_count), np.float32(np.nan))
            pair_in, pair_out = pairs[beside.pair_in], pairs[beside.pair_out]
        words: dict[str, float] = {}
        for text, weight in scene.parts:
            for token in mind.tokeniser.tokens(text):
                words[token] = words.get(token, 0.0) + weight
        lexical = mind.words.scores(words, n)
        evidence = Evidence(turn, pair_in, pair_out, lexical, beside.before, beside.after, scene.visible)
        score = fuse(evidence, self._params.fusion)
        own = fuse(evidence, replace(self._params.fusion, neighbour=0.0))
        wanted = {t.casefold() for t in scene.request.tags}
        if wanted:
            for memory in mind.memories.values():
                row = mind.row(memory.id)
                if row is not None and scene.visible[row]:
                    score[row] += _TAG_BOOST * len(wanted & {t.casefold() for t in memory.tags})
        count = min(_CONSIDERED + scene.max_items, int(np.count_nonzero(scene.visible)))
        if not scene.parts:
            count = 0
        best = np.argpartition(-score, count - 1)[:count] if 0 < count < n else np.arange(n)[:count]
        best = best[np.lexsort((best, -score[best]))]
        if count == n:
            best = best[np.isfinite(score[best])]
        return _Ranked(best, score[best], turn[best], lexical[best], own[best], beside.position)

    def _assemble(
        self, mind: Mind, scene: _Scene, ranked: _Ranked
    ) -> tuple[Recalled, tuple[Considered, ...]]:
        permanent = sorted(
            (
                m
                for m in mind.memories.values()
                if m.permanent and (r := mind.row(m.id)) is not None and scene.visible[r]
            ),
            key=lambda m: (-m.importance, m.id),
        )
        candidates = [(int(r), mind.at(int(r))) for r in ranked.rows]
        language = language_of([text for text, _ in scene.parts] + [m.text for _, m in candidates[:5]])
        budget = Budget(scene.budget, mind.soul.name, language)
        core = [(m, line) for m in permanent if budget.take(m, line := line_of(m))]
        free = [i for i, (_, m) in enumerate(candidates) if not m.permanent]
        picked = self._pick(mind, scene, ranked, candidates, free, budget)
        taken: list[tuple[int, Line]] = []
        for i in picked:
            line = line_of(candidates[i][1])
            if budget.take(candidates[i][1], line):
                taken.append((i, line))
        taken.sort(key=lambda pair: pair[0])  # candidates stand by score
        chosen = core + [(candidates[i][1], line) for i, line in taken]
        ages = mind.ages(scene.request.chat, scene.extra_turns)

        def when(memory: Memory) -> tuple[float, int]:
            row = mind.row_of(memory)
            return float(mind.happened[row]), int(ranked.position[row])

        texts = budget.blocks(chosen, when)
        shared = _shared_words(mind, scene, [candidates[i][1] for i, _ in taken])
        memories = [
            self._recalled(
                mind, scene, m, line, 1.0, Reason(Cause.PERMANENT, (), int(ages[mind.row_of(m)])), language
            )
            for m, line in core
        ]
        for i, line in taken:
            row, memory = candidates[i]
            reason = _reason(ranked, i, shared.get(memory.id, ()), int(ages[row]))
            memories.append(
                self._recalled(mind, scene, memory, line, _squash(float(ranked.score[i])), reason, language)
            )
        kept = {m.id for m in memories}
        considered = tuple(
            Considered(
                id=m.id,
                text=m.text,
                score=float(ranked.score[i]),
                dense=None if np.isnan(ranked.dense[i]) else float(ranked.dense[i]),
                lexical=float(ranked.lexical[i]),
                kept=m.id in kept,
                cut=None if m.id in kept else "others were better, more varied, or the budget was spent",
            )
            for i, (_, m) in enumerate(candidates)
        )
        answer = Recalled(
            trace=new_id("t"),
            memories=tuple(memories),
            blocks=tuple(_block(text) for text in texts),
            tokens=sum(text.tokens for text in texts),
            timed_out=False,
            took_ms=Timings(),
        )
        return answer, considered

    def _pick(
        self,
        mind: Mind,
        scene: _Scene,
        ranked: _Ranked,
        candidates: Sequence[tuple[int, Memory]],
        free: Sequence[int],
        budget: Budget,
    ) -> list[int]:
        if not free:
            return []
        rows = np.asarray([candidates[i][0] for i in free], np.int64)
        vectors = (
            mind.vectors.rows(rows)
            if mind.vectors is not None
            else np.full((rows.size, 1), np.nan, np.float32)
        )
        chosen = choose(
            ranked.score[np.asarray(free)],
            vectors,
            mind.tokens[rows] + 1,
            budget=budget.left,
            max_items=scene.max_items,
            novelty=self._params.novelty,
        )
        return [free[i] for i in chosen]

    def _recalled(
        self,
        mind: Mind,
        scene: _Scene,
        memory: Memory,
        line: Line,
        score: float,
        reason: Reason,
        language: str,
    ) -> RecalledMemory:
        return RecalledMemory(
            id=memory.id,
            kind=memory.kind.value,
            text=line.text,
            score=score,
            hops=0,
            permanent=memory.permanent,
            fired=False if memory.kind.value == "action" else None,
            why=sentence(reason, mind.soul.name, language),
            path=(PathStep(memory.id, _label(memory.text), None),),
            sources=mind.sources(memory, scene.request.chat),
            age_turns=reason.age_turns,
            visibility=1.0,
        )

    def _too_late(self, world: World, request: RecallRequest, began: float) -> Recalled:
        empty = Recalled(new_id("t"), (), (), 0, True, Timings(total=1000 * (time.perf_counter() - began)))
        self._keep(
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

    def _keep(self, owner: str, trace: Trace) -> None:
        self._traces[owner, trace.id] = trace
        while len(self._traces) > _TRACES:
            self._traces.popitem(last=False)


def _last_messages(world: World, request: RecallRequest) -> list[Message]:
    """What the chat is about now: not the reply that is being replaced, nothing out of character, nothing
    held.
    """
    log = world.loaded_log(request.chat) if request.chat is not None else None
    if log is None:
        return []
    messages = without_held(log.messages[-20:], log.head.hold)
    replaces = request.type in (RecallType.SWIPE, RecallType.REGENERATE)
    if (
        messages
        and replaces
        and messages[-1].role is not Role.USER
        and request.slot in (None, messages[-1].slot)
    ):
        messages.pop()
    soul = request.soul
    heard = [m for m in messages if soul in (log.head.souls if m.present is None else m.present)]
    return [m for m in heard if memorable(m)]


def _inside(world: World, chat: ChatId, first: SlotId) -> Callable[[SlotId], bool] | None:
    """Whether a slot stands at or after `first` in the chat; None when `first` is not in it."""
    log = world.loaded_log(chat)
    at = log.index.get(first) if log is not None else None
    if log is None or at is None:
        return None
    index = log.index
    return lambda slot: index.get(slot, -1) >= at


def _shared_words(mind: Mind, scene: _Scene, memories: Sequence[Memory]) -> dict[MemoryId, tuple[str, ...]]:
    """For each memory the rarest words it shares with the cue, at most two, as the cue writes them."""
    cue = {t for text, _ in scene.parts for t in mind.tokeniser.tokens(text) if len(t) > 1}
    out = {}
    for memory in memories:
        common = cue & set(mind.tokeniser.tokens(memory.text))
        rare = sorted(common, key=lambda t: (mind.words.frequency(t), -len(t), t))
        out[memory.id] = tuple(rare[:2])
    return out


def _reason(ranked: _Ranked, at: int, shared: tuple[str, ...], age: int) -> Reason:
    if ranked.score[at] - ranked.own[at] > max(0.5, float(ranked.own[at])):
        return Reason(Cause.NEIGHBOUR, shared, age)
    if ranked.lexical[at] > 0 and shared:
        return Reason(Cause.WORDS, shared, age)
    return Reason(Cause.MEANING, (), age)


def _squash(score: float) -> float:
    """A standardised score as 0..1, order kept."""
    return round(1.0 / (1.0 + float(np.exp(-score / 2))), 9)


def _label(text: str) -> str:
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"


def _block(text: Text) -> Block:
    return Block(
        section=text.section.value,
        position=text.position,
        depth=text.depth,
        role="system",
        text=text.text,
        tokens=text.tokens,
        items=tuple(BlockItem(line.memory, line.text, line.tokens) for line in text.lines),
    )
