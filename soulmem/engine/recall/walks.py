"""Walks over a soul's edges: the share of the walk at each memory, the paths it took and the flow of each edge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.walk_graph import WalkGraph, WalkGraphParams, WalkGraphs
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.services import Services
from soulmem.graph.arcs import MEMORY_KINDS, arcs_along, arcs_back, slots_of
from soulmem.kernels.arrays import Bools, Float32s, Float64s, Int64s
from soulmem.kernels.explain import Chain, explain
from soulmem.kernels.patched_graph import PatchedGraph
from soulmem.kernels.steady import Steady, SteadyParams, steady
from soulmem.kernels.tuning import NO_FLAGS, NO_IDS, NO_WEIGHTS
from soulmem.kernels.walk import Tuning, Walk, WalkParams
from soulmem.kernels.warm import kernels
from soulmem.retrieval.association_paths import AssociationPaths, association_paths
from soulmem.retrieval.edge_weights import class_factors, fact_factors, restart_in
from soulmem.retrieval.mood import Mood, irritation

Rows = NDArray[np.uint32]

_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)


@dataclass(frozen=True, slots=True)
class WalkingParams:
    """How far a walk goes, over what graph, and how much of it is explained."""

    walk: WalkParams = field(default_factory=WalkParams)
    graph: WalkGraphParams = field(default_factory=WalkGraphParams)
    max_hops: int = 6  # of a path that is shown; a longer one explains nothing
    busiest: int = 64  # memories whose edges' flow is kept for learning


@dataclass(frozen=True, slots=True)
class WalkPath:
    """How the walk reached a memory: rows from a seed to it, and the edge of each step."""

    rows: tuple[int, ...]
    edges: tuple[Edge, ...]

    @property
    def hops(self) -> int:
        """Steps from the seed."""
        return len(self.edges)


class Walks:
    """Walks over one soul's edges, on a graph that follows changes of these. Compute thread only."""

    def __init__(self, mind: Mind, params: WalkingParams | None = None) -> None:
        self.params = params or WalkingParams()
        # Weak: walks are kept in a dictionary by mind, which must not keep the mind alive.
        self._mind_ref = ref(mind)
        self._graphs = WalkGraphs(self.params.graph)
        self._graph: WalkGraph | None = None
        # By the factor of each kind of memory: factors of arcs, and those where `next` is not followed.
        self._factors: dict[tuple[tuple[str, float], ...], tuple[Float32s, Float32s]] = {}

    @property
    def _mind(self) -> Mind:
        mind = self._mind_ref()
        assert mind is not None  # the caller holds it
        return mind

    @compute_only
    def refresh(self, extra_turns: int) -> WalkGraph:
        """Bring the graph up to date, and return it."""
        self._graph = self._graphs.ready(self._mind, extra_turns)
        return self._graph

    def renew(self, mind: Mind, extra_turns: int) -> bool:
        """Do one step of the work that `refresh` put off for a recall; True if more is left to do.

        mind  that of these walks
        """
        return self._graphs.renew(mind, extra_turns)

    def class_factors(self, kinds: Mapping[str, float]) -> Float32s:
        """The factor of each class of arcs, float32[256], by the factors of kinds of memories."""
        return self._factors_of(kinds)[0]

    def walk(
        self,
        seeds: Rows,
        share: Float64s,
        passable: Bools,
        mood: Mood,
        cosine: Float32s,
        kinds: Mapping[str, float] | None = None,
        edge_factors: Mapping[str, float] | None = None,
    ) -> WalkResult:
        """Follow a walk from these rows over the graph of the last `refresh`.

        passable      bool[n]     rows that may be passed through
        cosine        float32[n]  of the query and each row's text, NaN where there is no vector
        kinds         factor of each kind of memory that guidance wants, > 0
        edge_factors  what the weights of single edges are multiplied by, both ways
        """
        assert self._graph is not None
        p, graph = self.params, self._graph
        restart = restart_in(p.walk.restart, irritation(mood), p.graph.weights)
        params = replace(p.walk, restart=restart)
        boundary = self._mind.residency.boundary(self._mind.size)
        factors, association_factors = self._factors_of(kinds or {})
        tuning = Tuning(kind_factor=factors, alive=passable, boundary=boundary)
        if graph.fact_rows.size:
            factor = fact_factors(cosine.take(graph.fact_rows), p.graph.weights)
            tuning = replace(
                tuning,
                edges=graph.fact_arcs,
                factor=np.concatenate([factor, factor]),  # along the edge and against
                places=graph.places,
            )
        if edge_factors:
            tuning = _with_edge_factors(self._mind, graph.graph, tuning, edge_factors)
        walk = graph.walker.walk(seeds, share, params, tuning)
        return WalkResult(
            self._mind,
            graph,
            walk,
            seeds,
            share,
            params,
            tuning,
            p,
            association_factors,
        )

    def steady(self, seeds: Rows, share: Float64s, passable: Bools, params: SteadyParams) -> Steady:
        """The steady state over the graph of the last `refresh`, the strongest seed at 1."""
        assert self._graph is not None
        graph = self._graph.graph.packed()
        stimulus = np.bincount(seeds, weights=share / share.max(), minlength=graph.nodes)
        tuning = Tuning(kind_factor=self._factors_of({})[0], alive=passable)
        return steady(graph, stimulus.astype(np.float64), params, tuning)

    def _factors_of(self, kinds: Mapping[str, float]) -> tuple[Float32s, Float32s]:
        """Factors of arcs, and the same where `next` is not followed, by the factors of kinds of memories."""
        key = tuple(sorted(kinds.items()))
        if key not in self._factors:
            weights = self.params.graph.weights
            without_next = replace(weights, kind={**weights.kind, EdgeKind.NEXT: 0.0})
            self._factors[key] = (
                class_factors(weights, kinds),
                class_factors(without_next, kinds),
            )
        return self._factors[key]


class WalkRenewal:
    """Updates the strengths of walk graphs in steps on the compute thread; recalls run between two of them."""

    def __init__(self, services: Services) -> None:
        self._compute = services.compute
        self._clock = services.clock
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, mind: Mind, walks: Walks) -> None:
        """Begin the work that the last walk of this mind put off; returns at once."""
        self._tasks.add(task := asyncio.create_task(self._run(mind, walks)))
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Wait until everything under way has ended."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, mind: Mind, walks: Walks) -> None:
        while await self._compute.run(walks.renew, mind, self._clock.extra_turns):
            pass


def _with_edge_factors(
    mind: Mind, graph: PatchedGraph, tuning: Tuning, edge_factors: Mapping[str, float]
) -> Tuning:
    """The tuning with the weights of these edges multiplied, whose arcs may have factors already."""
    arcs = NO_IDS if tuning.edges is None else tuning.edges
    factor = NO_WEIGHTS if tuning.factor is None else tuning.factor.copy()
    own = tuning.places
    places = np.full(graph.edge.size, -1, np.int32) if own is None else own.copy()
    added: list[int] = []
    values: list[float] = []
    rows: list[int] = []
    for key, value in edge_factors.items():
        for row, position in _positions(mind, graph, key):
            place = int(places[position])
            if place >= 0:
                factor[place] *= np.float32(value)
                continue
            places[position] = arcs.size + len(added)
            added.append(int(graph.edge[position]))
            values.append(value)
            rows.append(row)
    return replace(
        tuning,
        edges=np.concatenate([arcs, np.asarray(added, np.uint32)]),
        factor=np.concatenate([factor, np.asarray(values, np.float32)]),
        places=places,
        base=arcs,
        rows=np.asarray(rows, np.uint32),
    )


def _positions(mind: Mind, graph: PatchedGraph, key: str) -> list[tuple[int, int]]:
    """The rows where the arcs of an edge start, and their positions in the graph: none, one or two."""
    slot, edge = mind.edges.slot(key), mind.edges.get(key)
    if slot is None or edge is None:
        return []
    slots = np.asarray([slot], np.int64)
    out = []
    for memory, arc in (
        (edge.source, arcs_along(slots)),
        (edge.target, arcs_back(slots)),
    ):
        row = mind.row(memory)
        if row is not None and row < graph.nodes:
            first, last = int(graph.starts[row]), int(graph.ends[row])
            places = np.flatnonzero(graph.edge[first:last] == arc).tolist()
            out += [(row, first + place) for place in places]
    return out


@dataclass(eq=False)
class WalkResult:
    """A walk that was taken. Valid until the soul's edges change.

    share    float32[n]  of the walk that is found at each row
    started  float32[n]  of the walk that began at each row, sum 1

    `association_factors`: the factor of each class of arcs where `next` is not followed.
    """

    mind: Mind
    graph: WalkGraph
    walk: Walk
    seeds: Rows
    seed_share: Float64s
    params: WalkParams
    tuning: Tuning
    walking: WalkingParams
    association_factors: Float32s

    def __post_init__(self) -> None:
        self.share: Float32s = np.zeros(self.mind.size, np.float32)
        self.share[self.walk.rows] = self.walk.score
        self.started: Float32s = np.zeros(self.mind.size, np.float32)
        self.started[self.seeds] = self.seed_share
        self._add_facts()

    def distances(self) -> AssociationPaths:
        """How far from the seeds each row stands that the walk reached."""
        assert self.tuning.alive is not None
        assert self.tuning.kind_factor is not None
        reached = self.tuning.alive & (self.share > 0)
        return association_paths(
            self.graph.graph, self.seeds, self.share, reached, self.tuning.kind_factor
        )

    def paths(self, rows: Int64s) -> dict[int, WalkPath]:
        """The strongest path to each of these rows that the walk reached from elsewhere."""
        return self._paths(rows, self.seeds, self.tuning)

    def association_paths(self, rows: Int64s) -> dict[int, WalkPath]:
        """The same from the concepts that the query names, without `next` edges."""
        concept = self.mind.columns.kind[self.seeds] == _CONCEPT
        tuning = replace(self.tuning, kind_factor=self.association_factors)
        return self._paths(rows, self.seeds[concept], tuning)

    def flows(self) -> dict[str, float]:
        """How much of the walk passes over each edge, by id, of the edges of the busiest memories."""
        top, score = self.walk.top(self.walking.busiest)
        position, flow = self._flow(top, score)
        slot = slots_of(self.graph.graph.edge[position])
        total = np.bincount(slot, weights=flow) if slot.size else np.zeros(0)
        best = np.flatnonzero(total)
        best = best[np.argsort(-total[best])][: 4 * self.walking.busiest]
        return {self.mind.edges.edge_at(int(i)).id: float(total[i]) for i in best}

    def _paths(self, rows: Int64s, seeds: Rows, tuning: Tuning) -> dict[int, WalkPath]:
        reached = rows[(self.share[rows] > 0) & ~self.graph.is_fact[rows]]
        if not reached.size or not seeds.size:
            return {}
        chains = explain(
            self.graph.graph,
            self.walk,
            reached.astype(np.uint32),
            seeds,
            self.params.restart,
            tuning,
            max_hops=self.walking.max_hops,
            space=self.graph.walker.space,
        )
        return {int(chain.rows[-1]): self._path(chain) for chain in chains if len(chain.edges)}

    def _path(self, chain: Chain) -> WalkPath:
        edges = (self.mind.edges.edge_at(int(slot)) for slot in slots_of(chain.edges))
        return WalkPath(tuple(int(row) for row in chain.rows), tuple(edges))

    def _add_facts(self) -> None:
        """Give each fact the share of the walk that passes over its edge, in either direction."""
        walk_graph, graph, tuning = self.graph, self.graph.graph, self.tuning
        if not walk_graph.fact_rows.size:
            return
        assert tuning.alive is not None
        assert tuning.kind_factor is not None
        kernels(graph.size).add_passed(
            graph.starts,
            graph.ends,
            graph.indices,
            graph.weight,
            graph.kind,
            self.walk.rows,
            self.walk.score,
            tuning.kind_factor,
            tuning.alive,
            NO_FLAGS if tuning.boundary is None else tuning.boundary,
            self.params.restart,
            walk_graph.places,
            walk_graph.fact_of,
            walk_graph.passed,
            self.share,
        )

    def _flow(self, rows: Rows, score: Float64s) -> tuple[Int64s, Float64s]:
        """The arcs that leave these rows, as positions in the graph, and what passes over each."""
        graph = self.graph.graph
        count = (graph.ends[rows] - graph.starts[rows]).astype(np.int64)
        sender = np.repeat(np.arange(rows.size), count)
        position = graph.positions_of(rows.astype(np.int64))
        weight = graph.weight[position].astype(np.float64)
        if self.tuning.kind_factor is not None:
            weight *= self.tuning.kind_factor[graph.kind[position]]
        if self.tuning.alive is not None:
            weight *= self.tuning.alive[graph.indices[position]]
        total = np.bincount(sender, weights=weight, minlength=rows.size)
        passing = (1 - self.params.restart) * score / np.maximum(total, np.finfo(np.float64).tiny)
        if self.tuning.boundary is not None:
            # a boundary node keeps what arrives
            passing[self.tuning.boundary[rows]] = 0
        return position, weight * passing[sender]
