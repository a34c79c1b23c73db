"""Shortest association paths from the seeds of a walk to each memory: length, directness and flow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.graph.arcs import MEMORY_KINDS, arc_class
from soulmem.kernels.arrays import Bools, Float32s, Int64s
from soulmem.kernels.csr import Csr
from soulmem.kernels.patched_graph import PatchedGraph
from soulmem.kernels.warm import kernels

Rows = NDArray[np.uint32]

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
    directness: (
        Float32s  # float32[n], 0..1: least share that a node of the best path passes on along it
    )
    flow: Float32s  # float32[n], >= 0: share of the walk at the seeds that arrives over shortest paths
    reached: Int64s  # int64[k], the rows that a path leads to, without the seeds


def association_paths(
    graph: Csr | PatchedGraph,
    seeds: Rows,
    walked: Float32s,
    alive: Bools,
    factor: Float32s,
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
    first = np.unique(seeds)
    hops[first] = 0
    directness[first] = 1.0
    flow[first] = walked[first]
    reached = np.empty(n, np.uint32)
    reached[: first.size] = first
    count = kernels(graph.size).follow_hops(
        graph.starts,
        graph.ends,
        graph.indices,
        graph.weight,
        graph.kind,
        factor,
        ~_SEQUENCE,
        np.require(alive, np.bool_, ["C", "W"]),
        p.hops,
        p.crowd,
        first.size,
        reached,
        hops,
        directness,
        flow,
    )
    return AssociationPaths(hops, directness, flow, reached[first.size : count].astype(np.int64))
