"""Expansion by memory vectors: edges that led to what was used for queries like this one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.text_background import text_background
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.arcs import MEMORY_KINDS, WALKED, arc_class
from soulmem.graph.edge_vectors import Direction, TextBackground
from soulmem.kernels.arrays import Bools, Float32s, Float64s
from soulmem.retrieval.best import best_rows


@dataclass(frozen=True, slots=True)
class VectorParams:
    """How memory vectors open edges and weigh in a walk."""

    # Standard deviations of what the query has with the soul's texts, below which a match means nothing.
    # Paraphrases of what was learned stand 2 to 6 above, other queries below 3.5.
    usual: float = 2.5
    opens: float = 0.55  # an edge opens when class * strength + evidence exceeds this; design 4.3
    walk: float = 1.0  # lambda: added to the weight of an edge of full evidence; design 3
    seeds: int = 2  # texts from which edges are opened; design 4.3
    hops: int = 3  # edges from a seed to what is opened
    matching: int = 32  # edges of the greatest evidence that are looked at
    slots: int = 2  # places among the first five for what was opened
    # Standard deviations that a query is like the lines at which a memory was wanted, with this share of those
    # that it is like the memory, from which on that comes. Of 64 paraphrases of such lines (en and zh, two
    # encoders) 7 in 10 are above; with 16 taught memories 1 plain line in 15.
    wanted: float = 3.6
    wanted_text: float = 0.75


@dataclass(frozen=True, slots=True)
class VectorArc:
    """A way over an edge from one row to another.

    weight    class * strength, 0..1
    evidence  0..1, that the edge leads to what the query asks for
    """

    target: int
    edge: str
    weight: float
    evidence: float


@dataclass(frozen=True, slots=True)
class Opened:
    """A row that memory vectors open.

    score  0..1, the least evidence of an edge with a vector on the way
    edges  from the seed to the row; none where the memory itself was taught
    """

    row: int
    score: float
    rows: tuple[int, ...]
    edges: tuple[str, ...]


def evidence(match: Float64s, noise: float, params: VectorParams | None = None) -> Float64s:
    """What matches of a query with memory vectors mean, 0..1: 0 for what is usual among the soul's texts.

    match  <q, m>, seen from the mean of the texts
    noise  standard deviation of the cosines of the query with the texts, seen from there
    """
    p = params or VectorParams()
    usual = min(p.usual * noise, 0.9)
    return np.clip((match - usual) / (1.0 - usual), 0.0, 1.0)


def wanted(match: float, own: float, noise: float, params: VectorParams | None = None) -> float:
    """How surely a query calls for a memory by what that was taught, in units of the bar.

    match  <q, m> of its memory vector
    own    cosine of the query with the memory, seen from the mean of the texts
    noise  standard deviation of such cosines
    """
    p = params or VectorParams()
    return (match + p.wanted_text * max(0.0, own)) / max(noise, 1e-6) / p.wanted


def opened_rows(
    seeds: Sequence[int],
    arcs: Mapping[int, Sequence[VectorArc]],
    params: VectorParams | None = None,
) -> list[Opened]:
    """The rows that open from the seeds, the strongest first; seeds are not among them.

    arcs  by row, the ways that leave it

    A way is open when weight + evidence exceeds `opens`. Its last edge has evidence: what is
    strongly connected anyway is left to the walk.
    """
    p = params or VectorParams()
    best: dict[int, Opened] = {}
    queue: list[tuple[float, int, tuple[str, ...], Opened]] = []
    for seed in dict.fromkeys(seeds):
        heappush(queue, (-1.0, seed, (), Opened(seed, 1.0, (seed,), ())))
    while queue:
        _, row, _, way = heappop(queue)
        if row in best:
            continue
        best[row] = way
        if len(way.edges) == p.hops:
            continue
        for arc in arcs.get(row, ()):
            if arc.target in best or arc.weight + arc.evidence <= p.opens:
                continue
            score = min(way.score, arc.evidence) if arc.evidence else way.score
            step = Opened(arc.target, score, (*way.rows, arc.target), (*way.edges, arc.edge))
            heappush(queue, (-score, arc.target, step.edges, step))
    taught = {arc.edge for ways in arcs.values() for arc in ways if arc.evidence > 0.0}
    out = [way for way in best.values() if way.edges and way.edges[-1] in taught]
    return sorted(out, key=lambda way: (-way.score, way.row))


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
        """The factor of each of these edges in a walk, by edge id."""
        pairs = zip(self.edges, self.evidence, strict=True)
        return {edge.id: 1.0 + params.walk * value for edge, value in pairs}


NO_MATCH = VectorMatch()


@compute_only
def match_vectors(mind: Mind, context: RecallContext, params: VectorParams) -> VectorMatch:
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
    class_factors: Float32s,
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

    def __init__(self, mind: Mind, passable: Bools, class_factors: Float32s, turn: float) -> None:
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
