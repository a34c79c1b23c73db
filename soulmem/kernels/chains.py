"""Chains of edges with the greatest flow from seeds to targets; compiled by `compiled.py`."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Bools, Float64s
from soulmem.kernels.csr import Ids, Kinds, Weights
from soulmem.kernels.tuning import Places

Labels = npt.NDArray[np.int64]

UNSEEN = 255  # more hops than any chain has


def edge_weight(
    position: int,
    weight: Weights,
    kind: Kinds,
    kind_factor: Weights,
    own_of: Places,
    own_factor: Weights,
) -> float:
    """weight * kind factor * own factor of the edge at a position, for this query."""
    product = weight[position] * kind_factor[kind[position]]
    if own_of.size > 0 and own_of[position] >= 0:
        product *= own_factor[own_of[position]]
    return float(product)


def best_chains(  # noqa: C901 - the search, its pruning and its three tunings belong together
    starts: Ids,
    ends: Ids,
    indices: Ids,
    weight: Weights,
    kind: Kinds,
    kind_factor: Weights,
    own_of: Places,
    own_factor: Weights,
    alive: Bools,
    boundary: Bools,
    seeds: Ids,
    seed_flow: Float64s,
    wanted: Bools,
    many: int,
    restart: float,
    max_hops: int,
    hops: Kinds,
    best: Float64s,
    best_hops: Kinds,
) -> tuple[Labels, Labels, Labels, Float64s, Labels]:
    """Chains in order of falling flow (Dijkstra), of at most max_hops edges.

        flow of a chain = seed_flow * product of (1 - restart) * P over its edges

    One loop, as search, pruning and weights share their state.

    starts, ends  uint32[n]: positions of the edges of each node
    own_of     int32[m] or empty: by position, index into `own_factor`; -1 for none
    alive, boundary  bool[n] or empty
    wanted     bool[n], the targets; `many` are set
    hops       uint8[n]: UNSEEN where a chain may lead, 0 elsewhere; changed
    best, best_hops  float64[n] and uint8[n], zeros; changed

    A label is the end of a chain. Returns for each label its node, previous label (-1 for
    none), position of the edge between them, and flow; and the labels of reached targets.
    """
    nodes = [np.int64(seeds[i]) for i in range(seeds.size)]
    before = [np.int64(-1) for _ in range(seeds.size)]
    position = [np.int64(0) for _ in range(seeds.size)]
    flows = [seed_flow[i] for i in range(seeds.size)]
    heap = [(-seed_flow[i], np.int64(0), np.int64(i)) for i in range(seeds.size)]
    heapq.heapify(heap)
    arrived = [np.int64(0) for _ in range(0)]
    # The weights of the edges that leave a node: a hub has thousands
    products = np.empty(64)
    while len(heap) > 0 and len(arrived) < many:
        _, length, label = heapq.heappop(heap)
        u = nodes[label]
        if hops[u] <= length:
            continue
        if wanted[u] and hops[u] == UNSEEN:
            arrived.append(label)
        hops[u] = length
        if length == max_hops or (boundary.size > 0 and boundary[u]):
            continue
        first, past = np.int64(starts[u]), np.int64(ends[u])
        if past - first > products.size:
            products = np.empty(2 * (past - first))
        total = 0.0
        for edge in range(first, past):
            product = 0.0
            if alive.size == 0 or alive[indices[edge]]:
                product = edge_weight(edge, weight, kind, kind_factor, own_of, own_factor)
            products[edge - first] = product
            total += product
        for edge in range(first, past):
            v = np.int64(indices[edge])
            product = products[edge - first]
            if product <= 0.0 or hops[v] <= length + 1:
                continue
            flow = flows[label] * (1.0 - restart) * product / total
            if flow > best[v] or (flow > 0.0 and length + 1 < best_hops[v]):
                if flow > best[v]:
                    best[v], best_hops[v] = flow, length + 1
                nodes.append(v)
                before.append(label)
                position.append(np.int64(edge))
                flows.append(flow)
                heapq.heappush(heap, (-flow, length + 1, np.int64(len(nodes) - 1)))
    # As lists each number would become an object.
    return (
        np.array(nodes, np.int64),
        np.array(before, np.int64),
        np.array(position, np.int64),
        np.array(flows, np.float64),
        np.array(arrived, np.int64),
    )
