"""Walk by Gauss-Seidel sweeps over all in-edges; compiled by `compiled.py`.

    y[v] = seeds[v] + (1 - restart) * sum over u of y[u] * P[u, v]

From any lower bound, such as the result of a push, y stays a lower bound and grows to the
solution. Rounding stays below too: in float32 each term is reduced by more than its
possible rounding error.

Nodes are in order of in-degree: rows of equal length follow each other, so the processor
predicts the end of a row, which halves the time of a sweep.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Float64s
from soulmem.kernels.csr import Ids

Real = TypeVar("Real", np.float32, np.float64)

ONE = np.uint64(1)
# In-edges that are summed in the precision of their terms, longer rows in float64
SHORT = np.uint64(32)


def transpose(indptr: Ids, indices: Ids, rank: Ids, into: Ids, sources: Ids, position: Ids) -> None:
    """In-edges of nodes in a new order.

    rank      uint32[n]      new number of each node
    into      uint32[n + 1]  zeros before; in-edges of new number v are into[v]:into[v + 1]
    sources   uint32[m]      written: new number of the source
    position  uint32[m]      written: position of the same edge among the out-edges
    """
    for e in range(indices.size):
        into[rank[indices[e]] + ONE] += np.uint32(1)
    for v in range(into.size - 1):
        into[v + 1] += into[v]
    free = into[:-1].copy()
    for u in range(rank.size):
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
            v = rank[indices[e]]
            place = free[v]
            free[v] = np.uint32(place + ONE)
            sources[place] = rank[u]
            position[place] = np.uint32(e)


def pull(
    into: Ids,
    sources: Ids,
    chance: npt.NDArray[Real],
    seeds: Float64s,
    restart: float,
    l1: float,
    sinks: Ids,
    boundary: Ids,
    rounding: float,
    passes: npt.NDArray[Real],
    income: Float64s,
    most: int,
) -> int:
    """Sweep until the error is at most l1 or rounding stops progress; returns the number of sweeps.

    A sweep leaves at most 1 - restart of what is on its way.

    chance    [m]  P of every in-edge or less; 0 from sinks and boundary nodes, which are listed
    seeds     float64[n]  share of the walk that starts at each node
    rounding  largest relative rounding error of a sum of products, per term; 0 for float64
    passes    [n]  lower bound of the income, in the precision of the computation; changed
    income    float64[n], written
    most      largest number of sweeps
    """
    zero = passes[0] - passes[0]
    before = 2.0  # of what was on its way
    for sweep in range(most):
        total = 0.0
        for v in range(into.size - 1):
            begin, end = np.uint64(into[v]), np.uint64(into[v + 1])
            if end - begin <= SHORT:
                few = zero
                for e in range(begin, end):
                    few += passes[sources[e]] * chance[e]
                arrives = np.float64(few)
                kept = 1.0 - rounding * np.float64(np.int64(end - begin + ONE))
            else:
                arrives = 0.0
                for e in range(begin, end):
                    arrives += np.float64(passes[sources[e]]) * np.float64(chance[e])
                kept = 1.0 - rounding
            y = seeds[v] + (1.0 - restart) * kept * arrives
            income[v] = y
            passes[v] = y * (1.0 - rounding)
            total += y
        back, stuck = 0.0, 0.0
        for i in range(sinks.size):
            back += (1.0 - restart) * income[sinks[i]]
        for i in range(boundary.size):
            stuck += (1.0 - restart) * income[boundary[i]]
        moving = 1.0 - back - stuck - restart * total
        if moving <= max(l1 * (1.0 - back) - stuck, 0.5 * l1 * (1.0 - back)):
            return sweep + 1
        if moving > before * (1.0 - 0.5 * restart):
            return sweep + 1
        before = moving
    return most
