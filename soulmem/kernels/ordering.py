"""Sorting of edges and limits per class, when a graph is built; compiled by `compiled.py`."""

from __future__ import annotations

import numpy as np

from soulmem.kernels.arrays import Float64s
from soulmem.kernels.csr import Ids, Kinds

HALF = np.uint32(16)  # bits of a weight that are sorted at once
LOW = np.uint32((1 << 16) - 1)


def order_edges(source: Ids, bits: Ids, indptr: Ids, order: Ids) -> None:
    """Radix sort of edges by source, then falling weight bits, then index.

    source  uint32[m]
    bits    uint32[m]  of a non-negative float32, which orders like its bits
    indptr  uint32[n + 1], zeros before; written: where the edges of each source start
    order   uint32[m], written: indices of the edges in order
    """
    first, second = np.empty_like(order), np.empty_like(order)
    for half in range(2):
        counts = np.zeros(int(LOW) + 2, np.int64)
        for e in range(bits.size):
            counts[LOW - (bits[e] >> (HALF * np.uint32(half)) & LOW) + np.uint32(1)] += 1
        for value in range(counts.size - 1):
            counts[value + 1] += counts[value]
        for i in range(bits.size):
            e = np.uint32(i) if half == 0 else first[i]
            value = LOW - (bits[e] >> (HALF * np.uint32(half)) & LOW)
            place = counts[value]
            counts[value] = place + 1
            if half == 0:
                first[place] = e
            else:
                second[place] = e
    for e in range(source.size):
        indptr[source[e] + np.uint32(1)] += np.uint32(1)
    for u in range(indptr.size - 1):
        indptr[u + 1] += indptr[u]
    free = indptr[:-1].copy()
    for i in range(source.size):
        e = second[i]
        place = free[source[e]]
        free[source[e]] = place + np.uint32(1)
        order[place] = e


def bound_classes(
    source: Ids, code: Kinds, weight: Float64s, most: float, nodes: int, out: Float64s
) -> None:
    """out = weight * most / max(most, sum of the weights of the same source and class).

    source  uint32[m], below `nodes`
    code    uint8[m]    class of each edge
    weight  float64[m]
    out     float64[m], written
    """
    starts = np.zeros(nodes + 1, np.int64)
    for e in range(source.size):
        starts[source[e] + np.uint32(1)] += 1
    for u in range(nodes):
        starts[u + 1] += starts[u]
    free = starts[:-1].copy()
    by_source = np.empty(source.size, np.int64)
    for e in range(source.size):
        place = free[source[e]]
        free[source[e]] = place + 1
        by_source[place] = e
    total = np.zeros(256)
    for u in range(nodes):
        for place in range(starts[u], starts[u + 1]):
            total[code[by_source[place]]] += weight[by_source[place]]
        for place in range(starts[u], starts[u + 1]):
            e = by_source[place]
            out[e] = weight[e] * (most / max(total[code[e]], most))
        for place in range(starts[u], starts[u + 1]):
            total[code[by_source[place]]] = 0.0
