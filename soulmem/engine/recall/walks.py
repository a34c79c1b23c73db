"""From the seeds along a soul's edges: how often the walk is found at each memory, and how it came there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.walk_graph import Ground, GroundParams, Grounds
from soulmem.graph.association import MEMORY_KINDS, slots_of
from soulmem.kernels.explain import Chain, explain
from soulmem.kernels.steady import Steady, SteadyParams, steady
from soulmem.kernels.tuning import NO_FLAGS
from soulmem.kernels.walk import Tuning, Walk, WalkParams
from soulmem.kernels.warm import kernels
from soulmem.retrieval.association_paths import AssociationPaths, association_paths
from soulmem.retrieval.edge_weights import class_factors, fact_factors, restart_in
from soulmem.retrieval.mood import Mood, irritation

Rows = NDArray[np.uint32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)


@dataclass(frozen=True, slots=True)
class WalkingParams:
    """How far associations go."""

    walk: WalkParams = field(default_factory=WalkParams)
    ground: GroundParams = field(default_factory=GroundParams)
    max_hops: int = 6  # of a way that is told; a longer one explains nothing
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
        self._grounds = Grounds(self.params.ground)
        self._ground: Ground | None = None
        weights = self.params.ground.weights
        self._factors = class_factors(params=weights)
        apart = replace(
            weights, kind={**weights.kind, EdgeKind.NEXT: 0.0}
        )  # what merely came next is none
        self._associating = class_factors(params=apart)

    @property
    def _mind(self) -> Mind:
        mind = self._of()
        assert mind is not None  # who asks for a walk has it
        return mind

    def refresh(self, extra_turns: int) -> Ground:
        """What is walked on, as of now."""
        self._ground = self._grounds.ready(self._mind, extra_turns)
        return self._ground

    def renew(self, extra_turns: int) -> None:
        """What `refresh` put off, as somebody waited for it."""
        self._grounds.renew(self._mind, extra_turns)

    def walk(
        self, seeds: Rows, share: Doubles, known: Bools, mood: Mood, cosine: Floats
    ) -> Walked:
        """Follow a walk from these rows over what `refresh` made last.

        known   bool[n]     rows that may be passed through
        cosine  float32[n]  of the cue and each row's text, NaN where there is no vector
        """
        assert self._ground is not None
        p, ground = self.params, self._ground
        params = replace(
            p.walk,
            restart=restart_in(p.walk.restart, irritation(mood), p.ground.weights),
        )
        boundary = self._mind.residency.boundary(self._mind.size)
        tuning = Tuning(kind_factor=self._factors, alive=known, boundary=boundary)
        if ground.fact_rows.size:
            factor = fact_factors(cosine.take(ground.fact_rows), p.ground.weights)
            both = np.concatenate([factor, factor])
            tuning = replace(
                tuning, edges=ground.fact_arcs, factor=both, places=ground.places
            )
        walk = ground.walker.walk(seeds, share, params, tuning)
        return Walked(
            self._mind, ground, walk, seeds, share, params, tuning, p, self._associating
        )

    def steady(
        self, seeds: Rows, share: Doubles, known: Bools, params: SteadyParams
    ) -> Steady:
        """The steady state over what `refresh` made last, the strongest seed at 1; `known` as for a walk."""
        assert self._ground is not None
        graph = self._ground.graph
        stimulus = np.bincount(
            seeds, weights=share / share.max(), minlength=graph.nodes
        )
        return steady(
            graph,
            stimulus.astype(np.float64),
            params,
            Tuning(kind_factor=self._factors, alive=known),
        )


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
        associating: Floats,
    ) -> None:
        """`associating`: the factor of each class of arcs where only associations are followed."""
        self.walk = walk
        self.seeds, self.seed_share = seeds, seed_share
        self.ground = ground
        self._mind = mind
        self._params, self._tuning, self._walking = params, tuning, walking
        self._associating = associating
        self.share: Floats = np.zeros(
            mind.size, np.float32
        )  # how often the walk is found at each row
        self.share[walk.rows] = walk.score
        self.started: Floats = np.zeros(
            mind.size, np.float32
        )  # how much of it began there, sum 1
        self.started[seeds] = seed_share
        self._tell_facts()

    def distances(self) -> AssociationPaths:
        """How far from the seeds each row stands that the walk reached."""
        assert self._tuning.alive is not None
        assert self._tuning.kind_factor is not None
        reached = self._tuning.alive & (self.share > 0)
        return association_paths(
            self.ground.graph, self.seeds, self.share, reached, self._tuning.kind_factor
        )

    def ways(self, rows: Ints) -> dict[int, Way]:
        """The strongest way to each of these rows that the walk reached from elsewhere."""
        return self._ways(rows, self.seeds, self._tuning)

    def associations(self, rows: Ints) -> dict[int, Way]:
        """The same from what the cue names, over associations alone: what merely came next is none."""
        concept = self._mind.columns.kind[self.seeds] == _CONCEPT
        alone = replace(self._tuning, kind_factor=self._associating)
        return self._ways(rows, self.seeds[concept], alone)

    def flows(self) -> dict[str, float]:
        """How much of the walk passes over each edge, by id, of the edges of the busiest memories."""
        top, score = self.walk.top(self._walking.busiest)
        position, flow = self._flow(top, score)
        slot = slots_of(self.ground.graph.edge[position])
        total = np.bincount(slot, weights=flow) if slot.size else np.zeros(0)
        best = np.flatnonzero(total)
        best = best[np.argsort(-total[best])][: 4 * self._walking.busiest]
        return {self._mind.edges.at(int(at)).id: float(total[at]) for at in best}

    def _ways(self, rows: Ints, seeds: Rows, tuning: Tuning) -> dict[int, Way]:
        reached = rows[(self.share[rows] > 0) & ~self.ground.is_fact[rows]].astype(
            np.uint32
        )
        if not reached.size or not seeds.size:
            return {}
        graph, hops = self.ground.graph, self._walking.max_hops
        found = explain(
            graph,
            self.walk,
            reached,
            seeds,
            self._params.restart,
            tuning,
            max_hops=hops,
        )
        return {
            int(chain.rows[-1]): self._way(chain) for chain in found if len(chain.edges)
        }

    def _way(self, chain: Chain) -> Way:
        edges = (self._mind.edges.at(int(slot)) for slot in slots_of(chain.edges))
        return Way(tuple(int(row) for row in chain.rows), tuple(edges))

    def _tell_facts(self) -> None:
        """A fact is walked as often as its edge is passed, either way."""
        ground, graph, tuning = self.ground, self.ground.graph, self._tuning
        if not ground.fact_rows.size:
            return
        compiled = kernels()
        if compiled is None:
            position, flow = self._flow(self.walk.rows, self.walk.score)
            place = ground.places[position]
            passed = np.flatnonzero(place >= 0)
            np.add.at(
                self.share,
                ground.fact_of[place[passed]],
                flow[passed].astype(np.float32),
            )
            return
        assert tuning.alive is not None
        assert tuning.kind_factor is not None
        compiled.add_passed(
            *(
                graph.indptr,
                graph.indices,
                graph.weight,
                graph.kind,
                self.walk.rows,
                self.walk.score,
            ),
            *(
                tuning.kind_factor,
                tuning.alive,
                NO_FLAGS if tuning.boundary is None else tuning.boundary,
            ),
            *(
                self._params.restart,
                ground.places,
                ground.fact_of,
                ground.passed,
                self.share,
            ),
        )

    def _flow(self, rows: Rows, score: Doubles) -> tuple[Ints, Doubles]:
        """The arcs that leave these rows, as positions in the graph, and what passes over each."""
        graph = self.ground.graph
        count = np.diff(graph.indptr)[rows].astype(np.int64)
        of = np.repeat(np.arange(rows.size), count)
        first = graph.indptr[rows].astype(np.int64) - np.append(
            0, np.cumsum(count)[:-1]
        )
        position = np.arange(of.size) + first[of]
        weight = graph.weight[position].astype(np.float64)
        if self._tuning.kind_factor is not None:
            weight *= self._tuning.kind_factor[graph.kind[position]]
        if self._tuning.alive is not None:
            weight *= self._tuning.alive[graph.indices[position]]
        total = np.bincount(of, weights=weight, minlength=rows.size)
        passing = (
            (1 - self._params.restart)
            * score
            / np.maximum(total, np.finfo(np.float64).tiny)
        )
        if self._tuning.boundary is not None:
            passing[self._tuning.boundary[rows]] = (
                0  # a boundary node keeps what arrives
            )
        return position, weight * passing[of]
