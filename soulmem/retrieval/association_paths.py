"""Shortest association paths from the seeds of a walk to each memory: length, directness and flow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.graph.association import MEMORY_KINDS, arc_class
from soulmem.kernels.csr import Csr

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Rows = NDArray[np.uint32]
Ints = NDArray[np.int64]

# Arcs between neighbours in a chat are no associations.
_SEQUENCE = np.zeros(256, np.bool_)
for _kind in MEMORY_KINDS:
    _SEQUENCE[arc_class(EdgeKind.NEXT, _kind)] = True
    _SEQUENCE[arc_class(EdgeKind.NEXT, _kind, back=True)] = True


@dataclass(frozen=True, slots=True)
class PathParams:
    """Limits of a path."""

    hops: int = 6  # longest path, in arcs
    crowd: int = 50  # arcs; a node with more is not passed through, unless it is a seed


@dataclass(frozen=True, slots=True)
class AssociationPaths:
    """Of each row: the shortest association paths from a seed."""

    # int8[n], arcs from a seed; 0 for a seed, -1 where no path leads
    hops: NDArray[np.int8]
    directness: Floats  # float32[n], 0..1: least share that a node of the best path passes on along it
    flow: Floats  # float32[n], >= 0: share of the walk at the seeds that arrives over shortest paths


def association_paths(
    graph: Csr,
    seeds: Rows,
    walked: Floats,
    alive: Bools,
    factor: Floats,
    params: PathParams | None = None,
) -> AssociationPaths:
    """Breadth first from the seeds, over arcs that are associations and rows that are alive.

    seeds   uint32[k]     where the walk started
    walked  float32[n]    walk score of each row
    alive   bool[n]
    factor  float32[256]  weight factor of each class of arcs, as in the walk

    The first step has directness 1, however many arcs the seed has.
    """
    p = params or PathParams()
    n = graph.nodes
    hops = np.full(n, -1, np.int8)
    directness, flow = np.zeros(n, np.float32), np.zeros(n, np.float32)
    front = np.unique(seeds.astype(np.int64))
    hops[front] = 0
    directness[front] = 1.0
    flow[front] = walked[front]
    for step in range(1, p.hops + 1):
        if step > 1:
            front = front[_degree(graph, front) <= p.crowd]
        arcs, source = _arcs_of(graph, front)
        if not arcs.size:
            break
        target = graph.indices[arcs].astype(np.int64)
        weight = np.where(
            alive[target], graph.weight[arcs] * factor[graph.kind[arcs]], 0.0
        )
        total = np.bincount(source, weights=weight, minlength=front.size)
        new = (hops[target] < 0) & (weight > 0) & ~_SEQUENCE[graph.kind[arcs]]
        start = front[source[new]]
        share = (weight[new] / total[source[new]]).astype(np.float32)
        np.add.at(flow, target[new], flow[start] * share)
        np.maximum.at(
            directness,
            target[new],
            np.minimum(share, directness[start]) if step > 1 else 1.0,
        )
        front = np.unique(target[new])
        hops[front] = step
    return AssociationPaths(hops, directness, flow)


def _arcs_of(graph: Csr, rows: Ints) -> tuple[Ints, Ints]:
    """Positions in the graph of all arcs of the rows, and for each the position of its row in `rows`."""
    count = _degree(graph, rows)
    source = np.repeat(np.arange(rows.size), count)
    start = graph.indptr[rows].astype(np.int64)
    arcs = (
        np.arange(count.sum())
        - np.repeat(np.cumsum(count) - count, count)
        + np.repeat(start, count)
    )
    return arcs, source


def _degree(graph: Csr, rows: Ints) -> Ints:
    """How many arcs leave each of the rows."""
    return graph.indptr[rows + 1].astype(np.int64) - graph.indptr[rows].astype(np.int64)
