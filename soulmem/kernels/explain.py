"""By which chain of edges did a walk come to a node?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from soulmem.kernels.answer import Walk
from soulmem.kernels.chains import UNSEEN, best_chains
from soulmem.kernels.compiled import Kernels
from soulmem.kernels.csr import Csr, Ids
from soulmem.kernels.tuning import (
    NO_FLAGS,
    NO_KINDS,
    NO_PLACES,
    NO_WEIGHTS,
    Tuning,
    own_places,
)
from soulmem.kernels.warm import kernels

PLAIN_ROWS = 100  # that chains may pass while nothing is compiled: all of a large graph would take seconds


@dataclass(frozen=True, slots=True)
class Chain:
    """Consecutive edges from a seed to a target; none if the target is a seed.

    rows   uint32[h + 1]  the nodes, seed first
    edges  uint32[h]      the caller's numbers of the edges between them
    flow   score of the seed * product of (1 - restart) * P over the edges
    """

    rows: Ids
    edges: Ids
    flow: float


def explain(
    graph: Csr,
    walk: Walk,
    targets: Ids,
    seeds: Ids,
    restart: float,
    tuning: Tuning | None = None,
    max_hops: int = 6,
    find_kernels: Callable[[], Kernels | None] = kernels,
) -> list[Chain]:
    """For every target, in their order, the chain of most flow over nodes that the walk reached.

    Targets to which no chain of at most max_hops (< 255) edges leads are left out. `restart` and `tuning` are
    those of the walk. Until kernels are compiled, chains pass over the best PLAIN_ROWS nodes only.
    """
    tuning = tuning or Tuning()
    own_of, own_factor = NO_PLACES, NO_WEIGHTS
    if tuning.edges is not None and tuning.factor is not None:
        own_of = own_places(graph, tuning)
        own_factor = tuning.factor.astype(np.float32, copy=False)
    hops, best_hops = np.zeros(graph.nodes, np.uint8), np.zeros(graph.nodes, np.uint8)
    score, wanted = np.zeros(graph.nodes), np.zeros(graph.nodes, np.bool_)
    compiled = find_kernels()
    score[walk.rows] = walk.score
    hops[walk.rows if compiled else walk.top(PLAIN_ROWS)[0]] = UNSEEN
    hops[targets[score[targets] > 0]] = UNSEEN
    wanted[targets] = True
    starts = np.unique(seeds).astype(np.uint32)
    hops[starts] = UNSEEN
    nodes, before, position, flow, found = (
        compiled.best_chains if compiled else best_chains
    )(
        graph.indptr,
        graph.indices,
        graph.weight,
        graph.kind,
        NO_KINDS
        if tuning.kind_factor is None
        else tuning.kind_factor.astype(np.float32),
        own_of,
        own_factor,
        NO_FLAGS
        if tuning.alive is None
        else np.require(tuning.alive, np.bool_, ["C", "W"]),
        NO_FLAGS
        if tuning.boundary is None
        else np.require(tuning.boundary, np.bool_, ["C", "W"]),
        starts,
        score[starts],
        wanted,
        int(wanted.sum()),
        restart,
        max_hops,
        hops,
        np.zeros(graph.nodes),
        best_hops,
    )
    chains = {}
    for label in found:
        rows, at = [int(nodes[label])], []
        end = label
        while before[end] >= 0:
            at.append(int(position[end]))
            end = int(before[end])
            rows.append(int(nodes[end]))
        chains[rows[0]] = Chain(
            rows=np.array(rows[::-1], np.uint32),
            edges=graph.edge[at[::-1]],
            flow=float(flow[label]),
        )
    return [chains[int(target)] for target in targets if int(target) in chains]
