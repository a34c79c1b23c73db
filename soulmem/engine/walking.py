"""From the seeds along a soul's edges: how often the walk is found at each memory, and how it came there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.engine.cutting import strengths_left
from soulmem.engine.mind import Mind
from soulmem.graph.association import MEMORY_KINDS, WALKED, Arcs, AssociationParams, arcs
from soulmem.graph.edge_table import EDGE_KINDS, EdgeArrays, pair_of
from soulmem.kernels.explain import Chain, explain
from soulmem.kernels.steady import Steady, SteadyParams, steady
from soulmem.kernels.tuning import NO_FLAGS, places_of
from soulmem.kernels.walk import Tuning, Walk, Walker, WalkParams
from soulmem.kernels.warm import kernels
from soulmem.retrieval.edge_weights import (
    EdgeWeightParams,
    class_factors,
    edge_weights,
    fact_factors,
    restart_in,
)
from soulmem.retrieval.mood import Mood, irritation
from soulmem.retrieval.ways import Ways, ways

Rows = NDArray[np.uint32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]
Doubles = NDArray[np.float64]

_MENTIONS = EDGE_KINDS.index(EdgeKind.MENTIONS)
_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
_RELATES = EDGE_KINDS.index(EdgeKind.RELATES)


@dataclass(frozen=True, slots=True)
class WalkingParams:
    """How far associations go."""

    walk: WalkParams = field(default_factory=WalkParams)
    association: AssociationParams = field(default_factory=AssociationParams)
    weights: EdgeWeightParams = field(default_factory=EdgeWeightParams)
    max_hops: int = 6  # of a way that is told; a longer one explains nothing
    fade_turns: int = 5  # the clock may go on so far before strengths are faded anew: 1.7 % at the default S
    busiest: int = 64  # memories whose edges' flow is kept for what the recall teaches


@dataclass(frozen=True, slots=True)
class Way:
    """How the walk came to a memory: rows from a seed to it, and the edge of each step."""

    rows: tuple[int, ...]
    edges: tuple[Edge, ...]

    @property
    def hops(self) -> int:
        """Steps from the seed."""
        return len(self.edges)


class Walks:
    """Walks over one soul's edges, made ready anew when these have changed. Compute thread only."""

    def __init__(self, mind: Mind, params: WalkingParams | None = None) -> None:
        self.params = params or WalkingParams()
        self._of = ref(mind)  # whoever keeps walks by mind must not keep the mind so
        self._made_for: tuple[int, int, int, int] | None = None
        self._ground: Ground | None = None
        weights = self.params.weights
        self._factors = class_factors(params=weights)
        apart = replace(weights, kind={**weights.kind, EdgeKind.NEXT: 0.0})  # what merely came next is none
        self._associating = class_factors(params=apart)

    @property
    def _mind(self) -> Mind:
        mind = self._of()
        assert mind is not None  # who asks for a walk has it
        return mind

    def refresh(self, extra_turns: int) -> Ground:
        """What is walked on, as of now."""
        mind, p = self._mind, self.params
        turns = int(mind.time.reading(extra_turns) // p.fade_turns)
        wanted = mind.edges.revision, mind.residency.revision, mind.size, turns
        if self._ground is None or self._made_for != wanted:
            edges = mind.edges.arrays(WALKED)
            weight = edge_weights(
                edges, strengths_left(mind, edges, extra_turns), p.weights, _names(mind, edges)
            )
            made = arcs(edges, weight, mind.columns.kind[: mind.size], p.association)
            fact_rows, fact_edges = _facts_on(mind, edges)
            rising = np.argsort(fact_edges)  # so that their arcs rise, too, and nobody sorts them for a query
            fact_rows, fact_edges = fact_rows[rising], fact_edges[rising]
            fact_arcs = np.concatenate([fact_edges, made.back_over(fact_edges)]).astype(np.uint32)
            ends = np.concatenate([edges.source[fact_edges], edges.target[fact_edges]])
            self._ground = Ground(
                arcs=made,
                walker=Walker(made.graph),
                slots=edges.slot.astype(np.int32),
                is_fact=_flags(mind.size, fact_rows),
                fact_arcs=fact_arcs,
                fact_of=np.concatenate([fact_rows, fact_rows]).astype(np.int32),
                places=places_of(made.graph, fact_arcs),
                passed=_flags(mind.size, ends),
                associating=self._associating,
            )
            self._made_for = wanted
        return self._ground

    def walk(self, seeds: Rows, share: Doubles, known: Bools, mood: Mood, cosine: Floats) -> Walked:
        """Follow a walk from these rows over what `refresh` made last.

        known   bool[n]     rows that may be passed through
        cosine  float32[n]  of the cue and each row's text, NaN where there is no vector
        """
        assert self._ground is not None
        p, ground = self.params, self._ground
        params = replace(p.walk, restart=restart_in(p.walk.restart, irritation(mood), p.weights))
        boundary = self._mind.residency.boundary(self._mind.size)
        tuning = Tuning(kind_factor=self._factors, alive=known, boundary=boundary)
        if ground.fact_rows.size:
            factor = fact_factors(cosine.take(ground.fact_rows), p.weights)
            both = np.concatenate([factor, factor])
            tuning = replace(tuning, edges=ground.fact_arcs, factor=both, places=ground.places)
        walk = ground.walker.walk(seeds, share, params, tuning)
        return Walked(self._mind, ground, walk, seeds, share, params, tuning, p)

    def steady(self, seeds: Rows, share: Doubles, known: Bools, params: SteadyParams) -> Steady:
        """The steady state over what `refresh` made last, the strongest seed at 1; `known` as for a walk."""
        assert self._ground is not None
        graph = self._ground.arcs.graph
        stimulus = np.bincount(seeds, weights=share / share.max(), minlength=graph.nodes)
        return steady(
            graph, stimulus.astype(np.float64), params, Tuning(kind_factor=self._factors, alive=known)
        )


@dataclass(frozen=True, slots=True)
class Ground:
    """A soul's edges, made ready for walks."""

    arcs: Arcs
    walker: Walker
    slots: Numbers  # of each edge in the mind's table
    is_fact: Bools  # by row
    fact_arcs: Rows  # the arcs that are facts, all that lead on and then all that lead back, rising
    fact_of: Numbers  # the row of the fact that each of these is
    places: Numbers  # of these arcs, by position in the graph; see `places_of`
    passed: Bools  # by row, whether an arc that is a fact leaves it
    associating: Floats  # the factor of each class of arcs where only associations are followed

    @property
    def fact_rows(self) -> Numbers:
        """Of every fact."""
        return self.fact_of[: self.fact_of.size // 2]

    @property
    def fact_edges(self) -> Rows:
        """The number of the edge of every fact, in the same order, rising."""
        return self.fact_arcs[: self.fact_arcs.size // 2]


class Walked:
    """A walk that was taken. What it tells holds until the soul's edges change."""

    def __init__(
        self,
        mind: Mind,
        ground: Ground,
        walk: Walk,
        seeds: Rows,
        seed_share: Doubles,
        params: WalkParams,
        tuning: Tuning,
        walking: WalkingParams,
    ) -> None:
        self.walk = walk
        self.seeds, self.seed_share = seeds, seed_share
        self.ground = ground
        self._mind = mind
        self._params, self._tuning, self._walking = params, tuning, walking
        self.share: Floats = np.zeros(mind.size, np.float32)  # how often the walk is found at each row
        self.share[walk.rows] = walk.score
        self.started: Floats = np.zeros(mind.size, np.float32)  # how much of it began there, sum 1
        self.started[seeds] = seed_share
        self._tell_facts()

    def distances(self) -> Ways:
        """How far from the seeds each row stands that the walk reached."""
        assert self._tuning.alive is not None
        assert self._tuning.kind_factor is not None
        reached = self._tuning.alive & (self.share > 0)
        return ways(self.ground.arcs.graph, self.seeds, self.share, reached, self._tuning.kind_factor)

    def ways(self, rows: Ints) -> dict[int, Way]:
        """The strongest way to each of these rows that the walk reached from elsewhere."""
        return self._ways(rows, self.seeds, self._tuning)

    def associations(self, rows: Ints) -> dict[int, Way]:
        """The same from what the cue names, over associations alone: what merely came next is none."""
        concept = self._mind.columns.kind[self.seeds] == _CONCEPT
        alone = replace(self._tuning, kind_factor=self.ground.associating)
        return self._ways(rows, self.seeds[concept], alone)

    def flows(self) -> dict[str, float]:
        """How much of the walk passes over each edge, by id, of the edges of the busiest memories."""
        top, score = self.walk.top(self._walking.busiest)
        position, flow = self._flow(top, score)
        number = self.ground.arcs.edge_of(self.ground.arcs.graph.edge[position])
        total = np.bincount(number, weights=flow) if number.size else np.zeros(0)
        best = np.flatnonzero(total)
        best = best[np.argsort(-total[best])][: 4 * self._walking.busiest]
        edges = self._mind.edges
        return {edges.at(int(self.ground.slots[at])).id: float(total[at]) for at in best}

    def _ways(self, rows: Ints, seeds: Rows, tuning: Tuning) -> dict[int, Way]:
        reached = rows[(self.share[rows] > 0) & ~self.ground.is_fact[rows]].astype(np.uint32)
        if not reached.size or not seeds.size:
            return {}
        graph, hops = self.ground.arcs.graph, self._walking.max_hops
        found = explain(graph, self.walk, reached, seeds, self._params.restart, tuning, max_hops=hops)
        return {int(chain.rows[-1]): self._way(chain) for chain in found if len(chain.edges)}

    def _way(self, chain: Chain) -> Way:
        arcs, slots = self.ground.arcs, self.ground.slots
        edges = (self._mind.edges.at(int(slot)) for slot in slots[arcs.edge_of(chain.edges)])
        return Way(tuple(int(row) for row in chain.rows), tuple(edges))

    def _tell_facts(self) -> None:
        """A fact is walked as often as its edge is passed, either way."""
        ground, graph, tuning = self.ground, self.ground.arcs.graph, self._tuning
        if not ground.fact_rows.size:
            return
        compiled = kernels()
        if compiled is None:
            position, flow = self._flow(self.walk.rows, self.walk.score)
            place = ground.places[position]
            passed = np.flatnonzero(place >= 0)
            np.add.at(self.share, ground.fact_of[place[passed]], flow[passed].astype(np.float32))
            return
        assert tuning.alive is not None
        assert tuning.kind_factor is not None
        compiled.add_passed(
            *(graph.indptr, graph.indices, graph.weight, graph.kind, self.walk.rows, self.walk.score),
            *(tuning.kind_factor, tuning.alive, NO_FLAGS if tuning.boundary is None else tuning.boundary),
            *(self._params.restart, ground.places, ground.fact_of, ground.passed, self.share),
        )

    def _flow(self, rows: Rows, score: Doubles) -> tuple[Ints, Doubles]:
        """The arcs that leave these rows, as positions in the graph, and what passes over each."""
        graph = self.ground.arcs.graph
        count = np.diff(graph.indptr)[rows].astype(np.int64)
        of = np.repeat(np.arange(rows.size), count)
        first = graph.indptr[rows].astype(np.int64) - np.append(0, np.cumsum(count)[:-1])
        position = np.arange(of.size) + first[of]
        weight = graph.weight[position].astype(np.float64)
        if self._tuning.kind_factor is not None:
            weight *= self._tuning.kind_factor[graph.kind[position]]
        if self._tuning.alive is not None:
            weight *= self._tuning.alive[graph.indices[position]]
        total = np.bincount(of, weights=weight, minlength=rows.size)
        passing = (1 - self._params.restart) * score / np.maximum(total, np.finfo(np.float64).tiny)
        if self._tuning.boundary is not None:
            passing[self._tuning.boundary[rows]] = 0  # a boundary node keeps what arrives
        return position, weight * passing[of]


def _names(mind: Mind, edges: EdgeArrays) -> Ints | None:
    """How many names each text holds; None where that is what the edges say."""
    if mind.residency.whole:
        return None
    return mind.residency.mentions(mind.size, edges.source[edges.kind == _MENTIONS])


def _flags(n: int, rows: NDArray[np.integer]) -> Bools:
    flags = np.zeros(n, np.bool_)
    flags[rows] = True
    return flags


def _facts_on(mind: Mind, edges: EdgeArrays) -> tuple[Ints, Ints]:
    """Rows of the facts, and the numbers of their edges among these, ascending ones."""
    facts, subjects, objects = (rows.astype(np.int64) for rows in mind.facts.rows())
    relations = np.flatnonzero(edges.kind == _RELATES)
    pairs = pair_of(edges.source[relations].astype(np.int64), edges.target[relations].astype(np.int64))
    order = np.argsort(pairs, kind="stable")
    wanted = pair_of(subjects, objects)
    first = np.searchsorted(pairs[order], wanted, "left")
    alike = np.searchsorted(pairs[order], wanted, "right") - first
    alone = alike == 1
    found, number = [facts[alone]], [relations[order[first[alone]]]]
    for row in facts[alike > 1]:  # several verbs between the same two
        key = mind.at(int(row)).id
        if (slot := mind.edges.slot(key)) is not None:
            found.append(np.array([row]))
            number.append(np.searchsorted(edges.slot, [slot]))
    return np.concatenate(found), np.concatenate(number)
