"""Traces of the last recalls, also of those before a restart: how an answer came about.

On disk a trace names memories by id; their texts are read again when the trace is asked for, so that it never
says more than the memory does. Words of a question are removed when their memory is purged.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from soulmem.domain.errors import NotFound, SoulMemError
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.phrases import phrase
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.api.results import Grade, Trace
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.habit_lines import label
from soulmem.engine.recall.ranking import Ranked
from soulmem.engine.recall.walks import WalkResult
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.world.world import World
from soulmem.kernels.spread import StopReason
from soulmem.ports.traces import TraceLog
from soulmem.retrieval.mood import strongest

_WITHOUT_WALK = (RecallMode.BASELINE.value, RecallMode.EXPAND.value)
_SEEDS = 30
_ACTIVE = 20  # memories of working memory
_BEST = 10
_ENDED = {
    StopReason.QUIET: "until nothing was left that could fire",
    StopReason.DELTA: "until hardly anything changed",
    StopReason.ROUNDS: "as many as there may be",
}


def trace_fields(mind: Mind, ranked: Ranked, mode: RecallMode, last: Grade) -> dict[str, Any]:
    """`grade`, `grade_why` and `seeds` of the trace; `last`: the grade that the recall reached."""
    expansion = ranked.expansion
    if expansion.walk is not None:
        walk = expansion.walk.walk
        why = f"text, meaning and a walk of {walk.visits} edges, exact to {walk.error:.2g}"
        seeds = _walk_seeds(mind, expansion.walk)
        return _fields("walk", why + _learned_in_words(ranked), seeds)
    if mode is RecallMode.SPREAD and expansion.activation is not None:
        activation = expansion.activation
        why = f"text, meaning and {_activation_in_words(activation)}"
        return _fields("spread", why, activation.seeds())
    if expansion.steady is not None:
        state = expansion.steady
        why = f"text, meaning and the state that settled in {state.rounds} rounds, exact to {state.error:.2g}"
        return _fields("steady", why, _best(mind, ranked))
    if last.name in _WITHOUT_WALK:
        return _fields(last.name, f"text and meaning: {last.why}", _best(mind, ranked))
    if mode is RecallMode.SPREAD:
        why = "text and meaning: no memory is about any word of the cue, so there was nothing to spread from"
    else:
        why = "text and meaning, with the moments beside them; there was no walk"
    return _fields("baseline", why + _learned_in_words(ranked), _best(mind, ranked))


def guidance_fields(mind: Mind, context: RecallContext) -> dict[str, Any]:
    """What the query asks for, for the `guidance` of the trace."""
    guidance, asked = context.guidance, context.asked_time
    return {
        "mode": context.request.mode.value,
        "embedded": context.asked is not None,
        "entities": [
            mind.memories[key].text
            for key in dict.fromkeys(context.concepts)
            if key in mind.memories
        ],
        "parts": list(guidance.parts),
        "times": asked.trace_entries() if asked is not None else [],
        "mood": strongest(context.mood),
        "intent": context.request.intent,
        "depth": guidance.depth,
        "kinds": dict(guidance.kinds),
        "active": _active(mind),
    }


def _active(mind: Mind) -> list[MemoryId]:
    """What was in working memory when the recall came, the latest first."""
    working = mind.recalls.working
    if working is None:
        return []
    return [active.memory for active in working.active(_ACTIVE)]


def _fields(grade: str, why: str, seeds: list[tuple[MemoryId, float]]) -> dict[str, Any]:
    return {"grade": grade, "grade_why": why, "seeds": tuple(seeds)}


def _walk_seeds(mind: Mind, walk: WalkResult) -> list[tuple[MemoryId, float]]:
    """Where the walk began, the largest share first."""
    best = np.argsort(-walk.seed_share)[:_SEEDS]
    keys = mind.ids_at(walk.seeds[best].tolist())
    shares = np.round(walk.seed_share[best].astype(np.float64), 6)
    return list(zip(keys, shares.tolist(), strict=True))


def _best(mind: Mind, ranked: Ranked) -> list[tuple[MemoryId, float]]:
    keys = mind.ids_at(ranked.rows[:_BEST].tolist())
    scores = np.round(ranked.score[:_BEST].astype(np.float64), 4)
    return list(zip(keys, scores.tolist(), strict=True))


def _learned_in_words(ranked: Ranked) -> str:
    """How many rows learned associations brought, with the path to the first of them."""
    if not ranked.learned or ranked.expansion.activation is None:
        return ""
    path = ranked.learned_path(next(iter(ranked.learned)))
    steps = path.steps if path is not None else ()
    names = " -> ".join(f'"{step.label}"' for step in steps)
    return f"; {len(ranked.learned)} more by what is often said together: {names}"


def _activation_in_words(activation: TermActivation) -> str:
    active = activation.active
    return (
        f"energy that spread from {active.seeds} terms to {active.terms.size - active.seeds} others in "
        f"{active.activation.rounds} rounds, {_ENDED[active.activation.stopped]}"
    )


log = logging.getLogger(__name__)

_IN_MEMORY = 500  # traces, per sidecar
_LEAST_QUOTE = 12  # characters from which a text counts as quoted within another


@dataclass(kw_only=True, eq=False)
class Traces:
    """The last traces. Event loop only; no recall waits for a write."""

    kept: TraceLog | None
    compute: Worker

    def __post_init__(self) -> None:
        self._recent: OrderedDict[tuple[Owner, str], Trace] = OrderedDict()
        self._unwritten: list[tuple[Owner, Trace]] = []
        self._task: asyncio.Task[None] | None = None

    def keep(self, owner: Owner, trace: Trace) -> None:
        """Add a trace; it is written soon."""
        self._recent[owner, trace.id] = trace
        while len(self._recent) > _IN_MEMORY:
            self._recent.popitem(last=False)
        if self.kept is None:
            return
        self._unwritten.append((owner, trace))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())

    async def find(self, world: World, key: str) -> Trace:
        """The trace of that id; raises NotFound where there is none."""
        recent = self._recent.get((world.owner, key))
        if recent is not None:
            return recent
        trace = await self._stored(world.owner, key)
        if trace is None or SoulId(trace.soul) not in world.souls:
            raise NotFound(
                phrase(
                    "no_trace",
                    "no trace '{trace}': the last 400 of each soul are kept",
                    trace=key,
                ),
                field="trace",
            )
        mind = await world.mind(SoulId(trace.soul))
        return await self.compute.run(_with_texts, mind, trace)

    async def forget(self, owner: Owner, soul: SoulId, purged: Mapping[MemoryId, str]) -> None:
        """Remove these memories, texts by id, from all traces, and the traces whose question quotes a text."""
        await self._written()
        for key, trace in list(self._recent.items()):
            if key[0] == owner and trace.soul == soul:
                changed = _without(trace, purged)
                if changed is None:
                    del self._recent[key]
                else:
                    self._recent[key] = changed
        if self.kept is not None:
            await self.kept.alter(owner, soul, lambda data: _data_without(data, purged))

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """Remove all traces of the soul."""
        await self._written()
        for key, trace in list(self._recent.items()):
            if key[0] == owner and trace.soul == soul:
                del self._recent[key]
        if self.kept is not None:
            await self.kept.drop(owner, soul)

    async def stop(self) -> None:
        """Write what has not been written yet."""
        await self._written()

    async def _stored(self, owner: Owner, key: str) -> Trace | None:
        data = await self.kept.find(owner, key) if self.kept is not None else None
        return None if data is None else await self.compute.run(_decoded, data)

    async def _written(self) -> None:
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _write(self) -> None:
        while self._unwritten and self.kept is not None:
            owner, trace = self._unwritten.pop(0)
            data = await self.compute.run(_encoded, trace)
            try:
                await self.kept.add(owner, SoulId(trace.soul), trace.id, data)
            except SoulMemError as error:  # a full disk: it stays until the sidecar stops
                log.warning("a trace could not be kept: %s", error.message)


@compute_only
def _encoded(trace: Trace) -> bytes:
    """The trace as JSON, without the texts of memories."""
    answer = trace.answer
    memories = []
    for memory in answer.memories:
        path = tuple(replace(step, label="") for step in memory.path)
        memories.append(replace(memory, text="", path=path))
    without_texts = replace(
        trace,
        considered=tuple(replace(memory, text="") for memory in trace.considered),
        working=tuple(replace(memory, text="") for memory in trace.working),
        answer=replace(answer, memories=tuple(memories), blocks=()),
    )
    return msgspec.json.encode(without_texts)


def _decoded(data: bytes) -> Trace | None:
    """The trace; None for one that another version wrote."""
    try:
        return msgspec.json.decode(data, type=Trace)
    except msgspec.MsgspecError:
        return None


@compute_only
def _with_texts(mind: Mind, trace: Trace) -> Trace:
    """The trace with today's texts of its memories, without those that are purged."""

    def text(memory: MemoryId) -> str | None:
        return mind.text_of(memory) if mind.row(memory) is not None else None

    considered = []
    for candidate in trace.considered:
        words = text(candidate.id)
        if words is not None:
            considered.append(replace(candidate, text=words))
    working = []
    for active in trace.working:
        words = text(active.id)
        if words is not None:
            working.append(replace(active, text=words))
    memories = []
    for memory in trace.answer.memories:
        words = text(memory.id)
        if words is not None:
            path = [replace(step, label=label(text(step.id) or "")) for step in memory.path]
            memories.append(replace(memory, text=words, path=tuple(path)))
    return replace(
        trace,
        considered=tuple(considered),
        working=tuple(working),
        answer=replace(trace.answer, memories=tuple(memories)),
        seeds=tuple(seed for seed in trace.seeds if text(seed[0]) is not None),
    )


def _data_without(data: bytes, purged: Mapping[MemoryId, str]) -> bytes | None:
    """`_without` of a stored trace; None removes it."""
    trace = _decoded(data)
    changed = None if trace is None else _without(trace, purged)
    if changed is None:
        return None
    return data if changed == trace else msgspec.json.encode(changed)


def _without(trace: Trace, purged: Mapping[MemoryId, str]) -> Trace | None:
    """The trace without these memories; None where its question quotes one of their texts."""
    parts = [part for part, _ in trace.query] + trace.guidance.get("parts", [])
    for part in parts:
        if any(_is_quoted(part, text) for text in purged.values()):
            return None
    answer = trace.answer
    memories = tuple(memory for memory in answer.memories if memory.id not in purged)
    if len(memories) < len(answer.memories):
        answer = replace(answer, memories=memories, blocks=())
    return replace(
        trace,
        considered=tuple(c for c in trace.considered if c.id not in purged),
        working=tuple(m for m in trace.working if m.id not in purged),
        answer=answer,
        seeds=tuple(seed for seed in trace.seeds if seed[0] not in purged),
        guidance=_without_entities(trace.guidance, set(purged.values())),
    )


def _without_entities(guidance: dict[str, Any], texts: set[str]) -> dict[str, Any]:
    """The guidance without the names of these concepts."""
    if "entities" not in guidance:
        return guidance
    entities = [name for name in guidance["entities"] if name not in texts]
    return {**guidance, "entities": entities}


def _is_quoted(part: str, text: str) -> bool:
    """Whether one contains the other whole; short texts, which occur everywhere, must be equal."""
    part, body = part.strip(), text.partition(": ")[2].strip() or text.strip()
    shorter, longer = sorted((part, body), key=len)
    return shorter == longer or (len(shorter) >= _LEAST_QUOTE and shorter in longer)
