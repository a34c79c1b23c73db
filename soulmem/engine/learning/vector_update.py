"""What a lesson or a verdict changes in the memory vectors of edges and memories, and how that is taken back."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from soulmem.consolidation.plasticity import strengthened, weakened
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import DECAYING
from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.text_background import text_background
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.edge_vectors import (
    Direction,
    TextBackground,
    decoded,
    encoded,
    length_of,
)
from soulmem.kernels.arrays import Float32s

_FORGOTTEN = 0.03  # a shorter sum of queries is what rounding left, and is dropped


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The unit vector of a query by an embedding model, as `encoded`."""

    model: str
    data: bytes


@dataclass(frozen=True, slots=True)
class VectorUpdate:
    """Memory vectors to store, then to apply.

    drop   edges whose vectors go
    query  what was added or taken out; None where nothing was
    steps  by edge how much of the query was added
    """

    put: tuple[EdgeVector, ...] = ()
    drop: tuple[str, ...] = ()
    query: QueryVector | None = None
    steps: Mapping[str, float] = field(default_factory=dict)

    def audit_values(self) -> dict[str, Any]:
        """The update as JSON values, from which `undone_update` takes it back."""
        if self.query is None or not self.steps:
            return {}
        data = base64.b64encode(self.query.data).decode()
        return {"model": self.query.model, "query": data, "steps": dict(self.steps)}


NO_UPDATE = VectorUpdate()


def query_vector(vector: Float32s | None, model: str | None) -> QueryVector | None:
    """The query as lessons use it; None without a vector."""
    if vector is None or model is None:
        return None
    return QueryVector(model, encoded(vector))


@compute_only
def vector_update(
    mind: Mind,
    query: QueryVector | None,
    gains: Mapping[str, float],
    losses: Mapping[str, float],
    turn: float,
) -> VectorUpdate:
    """Teach the vectors of edges one query, at `turn` of the soul's clock.

    gains   by edge how many uses it is taught, > 0; only edges that fade, and memories, have a vector
    losses  by edge which part, 0..1, of what it has of the query is taken out

    An edge in both gains first. Nothing changes without a query, or when the soul's texts
    have vectors of another model by now.
    """
    background = text_background(mind)
    if query is None or background is None or query.model != mind.vector_queue.model:
        return NO_UPDATE
    raw = decoded(query.data)
    if raw.size != background.mean.size:
        return NO_UPDATE
    direction = background.direction(raw)
    if direction is None:
        return NO_UPDATE
    teaching = _Teaching(mind, query.model, raw, direction, background)
    steps: dict[str, float] = {}
    for edge_id in dict.fromkeys((*gains, *losses)):
        if _ends(mind, edge_id) is None:
            continue
        step = teaching.step(edge_id, gains.get(edge_id, 0.0), losses.get(edge_id, 0.0))
        if step:
            steps[edge_id] = step
    return _applied(mind, query, steps, turn)


@compute_only
def undone_update(mind: Mind, values: Sequence[Mapping[str, Any]]) -> VectorUpdate:
    """Takes back updates, from their audit values, newest first.

    Later lessons stay. Vectors that are gone by now, or of another model, are left as they are.
    """
    changed: dict[str, EdgeVector | None] = {}
    for update in values:
        raw = decoded(base64.b64decode(update["query"]))
        for edge_id, step in update["steps"].items():
            vector = changed.get(edge_id, mind.edge_vectors.get(edge_id))
            if vector is not None and vector.model == update["model"]:
                changed[edge_id] = _moved(vector, raw, -step, vector.turn)
    return VectorUpdate(
        tuple(vector for vector in changed.values() if vector is not None),
        tuple(key for key, vector in changed.items() if vector is None),
    )


@compute_only
def apply_vector_update(mind: Mind, update: VectorUpdate) -> None:
    """Apply an update that has been stored."""
    mind.edge_vectors.drop(update.drop)
    mind.edge_vectors.put(update.put)


@dataclass(frozen=True, slots=True)
class _Teaching:
    """One query, and what memory vectors have of it."""

    mind: Mind
    model: str
    raw: Float32s
    direction: Direction
    background: TextBackground

    def step(self, key: str, gain: float, loss: float) -> float:
        """How much of the query vector is added to the vector of the edge or memory."""
        vector = self.mind.edge_vectors.get(key)
        length = match = 0.0
        if vector is not None and vector.model == self.model:
            parts = decoded(vector.data), vector.weight
            length, match = length_of(*parts, self.direction, self.background)
        total = strengthened(length, match, gain) if gain > 0.0 else 0.0
        total += weakened(match + total, loss)
        return total * self.background.spread / self.direction.length


def _applied(
    mind: Mind, query: QueryVector, steps: Mapping[str, float], turn: float
) -> VectorUpdate:
    raw = decoded(query.data)
    put, drop = [], []
    for edge_id, step in steps.items():
        vector = mind.edge_vectors.get(edge_id)
        if vector is None or vector.model != query.model:
            vector = _empty(mind, edge_id, query.model, raw.size)
        moved = _moved(vector, raw, step, turn)
        if moved is None:
            drop.append(edge_id)
        else:
            put.append(moved)
    surplus = mind.edge_vectors.surplus([vector.edge for vector in put], query.model)
    return VectorUpdate(tuple(put), (*drop, *surplus), query, steps)


def _moved(vector: EdgeVector, raw: Float32s, step: float, turn: float) -> EdgeVector | None:
    """The vector with `step` times the query added; None when nothing is left of it."""
    total = decoded(vector.data) + np.float32(step) * raw
    weight = vector.weight + step
    if abs(weight) < _FORGOTTEN and float(np.linalg.norm(total)) < _FORGOTTEN:
        return None
    return EdgeVector(
        soul=vector.soul,
        edge=vector.edge,
        source=vector.source,
        target=vector.target,
        model=vector.model,
        weight=weight,
        turn=turn,
        data=encoded(total),
    )


def _ends(mind: Mind, key: str) -> tuple[MemoryId, MemoryId] | None:
    """The ends of an edge that fades, or a memory twice; None where neither has that key."""
    edge = mind.edges.get(key)
    if edge is not None:
        return (edge.source, edge.target) if edge.kind in DECAYING else None
    memory = MemoryId(key)
    return (memory, memory) if memory in mind.memories else None


def _empty(mind: Mind, key: str, model: str, dim: int) -> EdgeVector:
    ends = _ends(mind, key)
    assert ends is not None  # else it was taught nothing
    return EdgeVector(
        soul=mind.soul.id,
        edge=key,
        source=ends[0],
        target=ends[1],
        model=model,
        weight=0.0,
        turn=0.0,
        data=encoded(np.zeros(dim, np.float32)),
    )
