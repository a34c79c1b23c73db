"""Chooses memories to forget and moves them into the bin, from where they can come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.base_activation import ActivationParams
from soulmem.consolidation.promotion import PromotionParams, is_promoted
from soulmem.domain.audit import Actor
from soulmem.domain.edges import DECAYING, EdgeKind
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import DERIVED, Memory, MemoryKind, MemoryState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.views.anchors import anchors_of
from soulmem.engine.views.concept_activation import (
    STABILITY,
    concept_activations,
    turns_since_recall,
)
from soulmem.engine.views.faded_edges import remaining_strengths
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays

Ints = NDArray[np.int64]

_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_DERIVED = [ORIGINS.index(origin) for origin in DERIVED]
_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
_TEXTS = [
    MEMORY_KINDS.index(kind)
    for kind in (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)
]
_AUTHOR = ChangeAuthor(
    Actor.ENGINE, "forget", "it says little, and was not recalled for long"
)
_PIECE = 200  # memories examined at once: about 20 ms


@dataclass(frozen=True, slots=True)
class ForgettingParams:
    """When a memory is forgotten; design 6."""

    unused: float = 500.0  # turns of the soul's clock without a recall
    legible: float = (
        STABILITY  # turns; a text lasts while e^(-age / legible) is above the floor
    )
    activation: ActivationParams = field(default_factory=ActivationParams)
    promotion: PromotionParams = field(default_factory=PromotionParams)


class ForgettingWork:
    """Moves forgotten memories into the bin. Callers must not hold `World.writing`."""

    def __init__(
        self,
        services: Services,
        *,
        params: ForgettingParams | None = None,
    ) -> None:
        self._world = services.world_of
        self._auditor = services.auditor
        self._compute = services.compute
        self._clock = services.clock
        self._params = params or ForgettingParams()

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("forget", self._job),)

    async def run_idle(self, worlds: Iterable[World]) -> None:
        """In Idle: forget what is due in every open soul."""
        for world in worlds:
            for mind in list(world.minds.values()):
                await self._forget(world, mind)

    async def forget(self, owner: Owner, soul: SoulId) -> int:
        """Forget what is due in a soul; returns how many memories. Raises NotFound."""
        world = await self._world(owner)
        world.soul(soul)
        return await self._forget(world, await world.mind(soul))

    async def _job(self, run: JobRun) -> dict[str, int]:
        return {"forgotten": await self.forget(run.owner, run.soul)}

    async def _forget(self, world: World, mind: Mind) -> int:
        """Forget what is due; returns how many memories.

        Partly loaded souls are skipped: the links of their memories are not all known.
        """
        if mind.soul.settings.forgetting <= 0.0 or not mind.residency.whole:
            return 0
        suspected = await self._compute.run(
            suspects, mind, self._clock.extra_turns, self._params
        )
        count = 0
        for start in range(0, len(suspected), _PIECE):
            piece = suspected[start : start + _PIECE]
            async with world.writing as token:
                if (
                    world.minds.get(mind.soul.id) is not mind
                ):  # unloaded, or opened again
                    return count
                due = await self._compute.run(
                    forgotten, mind, piece, self._clock.extra_turns, self._params
                )
                if due:
                    put = tuple(
                        replace(m, state=MemoryState.FORGOTTEN, revision=m.revision + 1)
                        for m in due
                    )
                    await self._auditor.carry_out(
                        token, world, mind, MindChange(put_memories=put), _AUTHOR
                    )
                    count += len(due)
        return count


@compute_only
def suspects(mind: Mind, extra: int, params: ForgettingParams) -> list[MemoryId]:
    """Memories that may be forgotten, least important texts first, then concepts.

    These are concepts that no link supports any more, and faded texts of low
    importance. About 5 ms for 100,000 links.
    """
    n, columns = mind.size, mind.columns
    may = columns.in_use[:n] & np.isin(columns.origin[:n], _DERIVED)
    may &= ~columns.permanent[:n] & ~columns.locked[:n]
    edges = mind.edges.arrays([kind for kind in EdgeKind if kind in DECAYING])
    unheld = may & (columns.kind[:n] == _CONCEPT) & _without_links(mind, edges, extra)
    named = (
        _end_counts(
            edges.source[
                (edges.kind == _MENTIONS) & (columns.kind[edges.target] == _CONCEPT)
            ],
            n,
        )
        > 0
    )
    plain = may & np.isin(columns.kind[:n], _TEXTS) & ~named
    plain &= columns.importance[:n] < params.promotion.importance
    texts = np.flatnonzero(plain)
    ages = mind.time.row_ages(texts, mind.exchange_ages(None, extra, texts), extra)
    texts = texts[ages >= _turns_until_forgotten(mind, params)]
    least = texts[np.argsort(columns.importance[texts], kind="stable")]
    return [mind.id_at(int(row)) for row in (*least, *np.flatnonzero(unheld))]


def _turns_until_forgotten(mind: Mind, params: ForgettingParams) -> float:
    """Turns of the soul's clock that an unused text lasts."""
    faded = (
        params.legible
        * log(1.0 / params.activation.floor)
        / mind.soul.settings.forgetting
    )
    return max(params.unused, faded)


def _without_links(mind: Mind, edges: EdgeArrays, extra: int) -> NDArray[np.bool_]:
    """Rows that had links that fade, and have none left above zero.

    A text's mention of a concept does not count for the concept.
    """
    n = mind.size
    holds = remaining_strengths(mind, edges, extra) > 0.0
    own = (edges.kind == _MENTIONS) & (mind.columns.kind[edges.target] == _CONCEPT)
    by_text = own & ~mind.edges.drawn_by_hand(edges.slot)
    had = _end_counts(edges.source, n) + _end_counts(edges.target, n)
    strong_links = _end_counts(edges.source[holds], n) + _end_counts(
        edges.target[holds & ~by_text], n
    )
    return np.asarray((had > 0) & (strong_links == 0), np.bool_)


@compute_only
def forgotten(
    mind: Mind, suspected: Sequence[MemoryId], extra: int, params: ForgettingParams
) -> list[Memory]:
    """Those of the suspected memories that are forgotten by now.

    Concepts are forgotten when they are inactive; texts when they were not recalled for
    long, name no one, contain no anchor and were never promoted to long-term memory.
    """
    concepts: list[Memory] = []
    texts: list[Memory] = []
    for key in suspected:
        memory = mind.memories.get(key)
        if memory is None:
            continue
        if memory.kind is MemoryKind.CONCEPT:
            concepts.append(memory)
        elif not memory.names and not anchors_of(mind, memory):
            texts.append(memory)
    return [
        *_forgotten_concepts(mind, concepts, extra, params),
        *_forgotten_texts(mind, texts, extra, params),
    ]


def _forgotten_concepts(
    mind: Mind, concepts: Sequence[Memory], extra: int, params: ForgettingParams
) -> list[Memory]:
    """Concepts with a base activation below the floor that were not used for long."""
    ids = [memory.id for memory in concepts]
    activations = concept_activations(mind, ids, extra, params.activation)
    floor = params.activation.floor
    return [
        memory
        for memory in concepts
        if activations[memory.id].activation < floor
        and activations[memory.id].idle >= params.unused
    ]


def _forgotten_texts(
    mind: Mind, texts: Sequence[Memory], extra: int, params: ForgettingParams
) -> list[Memory]:
    """Texts that were not recalled for long and never promoted to long-term memory."""
    unused = turns_since_recall(mind, [memory.id for memory in texts], extra)
    created = mind.columns.created
    out = []
    for memory in texts:
        if unused.get(memory.id, inf) < _turns_until_forgotten(mind, params):
            continue
        siblings = int(np.count_nonzero(created == created[mind.row_of(memory)]))
        usage = mind.recalls.usage(memory.id)
        activations = mind.recalls.activations(memory.id)
        if not is_promoted(memory, usage, siblings, params.promotion, activations):
            out.append(memory)
    return out


def _end_counts(rows: NDArray[np.uint32], n: int) -> Ints:
    return np.bincount(rows, minlength=n).astype(np.int64)
