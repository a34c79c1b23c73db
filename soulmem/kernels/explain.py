"""The chain of edges by which a walk reached a node, for showing why a memory was recalled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from soulmem.kernels.arrays import Bools, Float64s
from soulmem.kernels.chains import UNSEEN, Labels
from soulmem.kernels.compiled import Kernels
from soulmem.kernels.csr import Csr, Ids, Kinds, Weights
from soulmem.kernels.patched_graph import PatchedGraph
from soulmem.kernels.tuning import (
    NO_FLAGS,
    NO_KINDS,
    NO_PLACES,
    NO_WEIGHTS,
    Places,
    Tuning,
    own_places,
)
from soulmem.kernels.walk_result import Walk
from soulmem.kernels.warm import kernels


@dataclass(frozen=True, slots=True)
class Chain:
    """Consecutive edges from a seed to a target; none if the target is a seed.

    rows   uint32[h + 1]  nodes, seed first
    edges  uint32[h]      the caller's numbers of the edges between them
    flow   score of the seed * product of (1 - restart) * P over the edges
    """

    rows: Ids
    edges: Ids
    flow: float


class ChainSpace:
    """Arrays by node for `explain`, zeros between two calls: making them anew would take as long as the search.

    For one thread at a time.
    """

    def __init__(self) -> None:
        self._size = -1

    def of(self, n: int) -> tuple[Float64s, Bools, Kinds, Float64s, Kinds]:
        """Score, target, hops, best flow and the hops of that, with room for `n` nodes."""
        if n > self._size:
            self._size = n + n // 8
            score, best = np.zeros(self._size), np.zeros(self._size)
            target = np.zeros(self._size, np.bool_)
            hops, best_hops = np.zeros((2, self._size), np.uint8)
            self._columns = score, target, hops, best, best_hops
        return self._columns

    def clean(self, *written: Ids | Labels) -> None:
        """Put zeros where nodes were written."""
        for nodes in written:
            for column in self._columns:
                column[nodes] = 0


def explain(
    graph: Csr | PatchedGraph,
    walk: Walk,
    targets: Ids,
    seeds: Ids,
    restart: float,
    tuning: Tuning | None = None,
    max_hops: int = 6,
    find_kernels: Callable[[int], Kernels] = kernels,
    space: ChainSpace | None = None,
) -> list[Chain]:
    """For each target, in their order, the chain of greatest flow over nodes the walk reached.

    Targets to which no chain of at most max_hops (< 255) edges leads are left out.
    `restart` and `tuning` are those of the walk; `space` is used again where it is given.
    """
    tuning, space = tuning or Tuning(), space or ChainSpace()
    score, wanted, hops, best, best_hops = space.of(graph.nodes)
    score[walk.rows] = walk.score
    wanted[targets] = True
    distinct = np.unique(seeds).astype(np.uint32)
    hops[walk.rows] = UNSEEN
    hops[distinct] = UNSEEN
    nodes, before, position, flow, arrived = find_kernels(graph.indices.size).best_chains(
        graph.starts,
        graph.ends,
        graph.indices,
        graph.weight,
        graph.kind,
        *_factors(graph, tuning),
        _flags(tuning.alive),
        _flags(tuning.boundary),
        distinct,
        score[distinct],
        wanted,
        np.unique(targets).size,
        restart,
        max_hops,
        hops,
        best,
        best_hops,
    )
    space.clean(walk.rows, targets, distinct, nodes)
    chains = {}
    for label in arrived.tolist():
        rows, positions = [int(nodes[label])], []
        end = label
        while before[end] >= 0:
            positions.append(int(position[end]))
            end = int(before[end])
            rows.append(int(nodes[end]))
        chains[rows[0]] = Chain(
            rows=np.array(rows[::-1], np.uint32),
            edges=graph.edge[positions[::-1]],
            flow=float(flow[label]),
        )
    return [chains[int(target)] for target in targets if int(target) in chains]


def _factors(graph: Csr | PatchedGraph, tuning: Tuning) -> tuple[Weights, Places, Weights]:
    """Multipliers as `best_chains` takes them: by kind, place of each edge's own, own."""
    kind_factor = NO_KINDS
    if tuning.kind_factor is not None:
        kind_factor = tuning.kind_factor.astype(np.float32)
    if tuning.edges is None or tuning.factor is None:
        return kind_factor, NO_PLACES, NO_WEIGHTS
    own_factor = tuning.factor.astype(np.float32, copy=False)
    return kind_factor, own_places(graph, tuning), own_factor


def _flags(flags: Bools | None) -> Bools:
    return NO_FLAGS if flags is None else np.require(flags, np.bool_, ["C", "W"])
