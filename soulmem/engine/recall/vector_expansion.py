"""Expansion by memory vectors: edges that led to what was used for queries like this one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.text_background import text_background
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.graph.association import MEMORY_KINDS, WALKED, arc_class
from soulmem.graph.edge_vectors import Direction, TextBackground
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.vector_expansion import (
    Opened,
    VectorArc,
    VectorParams,
    evidence,
    opened_rows,
    wanted,
)

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

_TRIGGER = MEMORY_KINDS.index(MemoryKind.TRIGGER)
_MOST_EDGES = 64  # of a seed: through a memory with more nothing is opened by strength


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """The edges whose memory vectors match the query, and the evidence, > 0..1, of each.

    wanted  memories that were taught a query like this one, the surest first
    """

    edges: tuple[Edge, ...] = ()
    evidence: tuple[float, ...] = ()
    wanted: tuple[Opened, ...] = ()

    def factors(self, params: VectorParams) -> dict[str, float]:
        """What the weight of each of these edges is multiplied by in a walk, by edge id."""
        pairs = zip(self.edges, self.evidence, strict=True)
        return {edge.id: 1.0 + params.walk * value for edge, value in pairs}


NO_MATCH = VectorMatch()


@compute_only
def match_vectors(
    mind: Mind, context: RecallContext, params: VectorParams
) -> VectorMatch:
    """The edges and memories whose memory vectors match the query, the most evidence first."""
    asked = context.asked
    model, background = mind.vector_queue.model, text_background(mind)
    if asked is None or model is None or background is None or not mind.edge_vectors:
        return NO_MATCH
    if asked.size != background.mean.size:
        return NO_MATCH
    direction = background.direction(asked)
    if direction is None:
        return NO_MATCH
    keys, match = mind.edge_vectors.matches(direction, background.spread, model)
    found = evidence(match, direction.noise, params)
    edges, values = [], []
    for place in np.argsort(-found, kind="stable")[: params.matching].tolist():
        key, value = keys[place], float(found[place])
        edge = mind.edges.get(key) if key is not None and value > 0.0 else None
        if edge is not None:
            edges.append(edge)
            values.append(value)
    taught = {
        key: value
        for key, value in zip(keys, match.tolist(), strict=True)
        if key is not None and value > 0.0 and mind.edges.get(key) is None
    }
    rows = _wanted(mind, context, taught, direction, background, params)
    return VectorMatch(tuple(edges), tuple(values), rows)


def _wanted(
    mind: Mind,
    context: RecallContext,
    taught: Mapping[str, float],
    direction: Direction,
    background: TextBackground,
    params: VectorParams,
) -> tuple[Opened, ...]:
    """The memories that were taught queries like this one; the more restraint, the more alike.

    taught  by memory, the match of its memory vector
    """
    table, found = mind.vector_queue.text_vectors, list[Opened]()
    for key, match in taught.items():
        row = mind.row(MemoryId(key))
        if table is None or row is None or not context.visible[row]:
            continue
        apart = table.rows(np.asarray([row]))[0] - background.mean
        length = max(float(np.linalg.norm(apart)), 1e-9)
        own = float(np.nan_to_num(apart @ direction.unit)) / length
        sure = wanted(match, own, direction.noise, params)
        if sure >= context.restraint:
            found.append(Opened(row, min(1.0, sure / 2.0), (row,), ()))
    return tuple(sorted(found, key=lambda way: (-way.score, way.row)))


@compute_only
def expand_by_vectors(
    mind: Mind,
    context: RecallContext,
    scores: TextScores,
    match: VectorMatch,
    class_factors: Floats,
    params: VectorParams,
) -> list[Opened]:
    """The memories that memory vectors open for this recall, the strongest first; they may be visible or not.

    class_factors  float32[256], the factor of each class of arcs, as of a walk

    Starts at the best texts and at what the query names.
    """
    if not match.edges:
        return []
    passable = passable_rows(mind, context)
    text = np.where(context.visible & passable, scores.own, np.float32(-np.inf))
    texts = best_rows(text, params.seeds).tolist()
    named = (mind.row(concept) for concept in context.concepts)
    seeds = [*texts, *(row for row in named if row is not None and passable[row])]
    arcs = _Arcs(mind, passable, class_factors, mind.lived_turns(context.extra_turns))
    for edge, value in zip(match.edges, match.evidence, strict=True):
        arcs.add(edge, value)
    for row in texts:
        edges = list(mind.edges.of(mind.id_at(row)))
        for edge in edges if len(edges) <= _MOST_EDGES else ():
            arcs.add(edge, 0.0)
    return opened_rows(seeds, arcs.leaving, params)


@compute_only
def passable_rows(mind: Mind, context: RecallContext) -> Bools:
    """Rows that an expansion may pass through, bool[n]."""
    passable = context.accessible & (mind.columns.kind[: mind.size] != _TRIGGER)
    # A fact is a step between two memories, not a place.
    passable &= ~mind.facts.row_flags(mind.size)
    # A learned name takes more from the moments before and after a text than it gives: walks through them
    # cost LoCoMo 1.6 points of R@10, English role-play queries as much. Activation finds what occurs with them.
    passable[mind.name_scope.rows(mind.size)] = False
    return np.asarray(passable)


class _Arcs:
    """The ways over edges, by the row that they leave."""

    def __init__(
        self, mind: Mind, passable: Bools, class_factors: Floats, turn: float
    ) -> None:
        self.leaving: defaultdict[int, list[VectorArc]] = defaultdict(list)
        self._mind = mind
        self._passable = passable
        self._factors = class_factors
        self._turn = turn
        self._added: set[str] = set()

    def add(self, edge: Edge, value: float) -> None:
        """The ways along and against an edge with that evidence, once for each edge."""
        key, mind = edge.id, self._mind
        source, target = mind.row(edge.source), mind.row(edge.target)
        if key in self._added or edge.kind not in WALKED:
            return
        if source is None or target is None:
            return
        self._added.add(key)
        strength = mind.edge_strength(edge, self._turn) * edge.confidence
        self._add(key, edge.kind, (source, target), strength, value)
        if edge.kind is not EdgeKind.KNOWS_HABIT:
            self._add(key, edge.kind, (target, source), strength, value, back=True)

    def _add(
        self,
        key: str,
        kind: EdgeKind,
        ends: tuple[int, int],
        strength: float,
        value: float,
        *,
        back: bool = False,
    ) -> None:
        start, end = ends
        if not self._passable[end]:
            return
        to_kind = MEMORY_KINDS[self._mind.columns.kind[end]]
        factor = float(self._factors[arc_class(kind, to_kind, back=back)])
        self.leaving[start].append(VectorArc(end, key, factor * strength, value))
