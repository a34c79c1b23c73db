"""What is the true answer of a walk, how little work could reach it, and how fast is the machine?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tests.bench.graphs import Edges, Query

Floats = NDArray[np.float64]
Rows = NDArray[np.uint32]

# Time of this thread only, so that neighbours on the machine count less; Windows counts it in steps of 16 ms.
clock = (
    time.thread_time if time.get_clock_info("thread_time").resolution < 1e-5 else time.perf_counter
)  # seconds


@dataclass(frozen=True, slots=True)
class Plain:
    """A graph in compressed rows, by weight descending: `indptr` [n + 1], the others [m]."""

    indptr: Rows
    indices: Rows
    chance: Floats
    weight: Floats


def compress(edges: Edges) -> Plain:
    """The graph's rows, each weight as a share of its row."""
    order = np.lexsort((-edges.weight, edges.source))
    source, weight = edges.source[order], edges.weight[order]
    indptr = np.zeros(edges.nodes + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=edges.nodes), out=indptr[1:])
    total = np.bincount(source, weights=weight, minlength=edges.nodes)
    return Plain(
        indptr.astype(np.uint32),
        edges.target[order].astype(np.uint32),
        weight / total[source],
        weight,
    )


def exact(plain: Plain, query: Query, error: float = 1e-12) -> Floats:
    """The true scores float64[n], up to an L1 error: plain push over all nodes, in order of their index."""
    left = np.zeros(plain.indptr.size - 1)
    np.add.at(left, query.seeds, query.share)
    return np.asarray(_sweep(plain.indptr, plain.indices, plain.chance, query.restart, left, error))


def fewest_nodes(truth: Floats, l1: float) -> int:
    """N*: an answer below the truth with that L1 error is above 0 on at least so many nodes."""
    return int(np.searchsorted(np.cumsum(np.sort(truth)[::-1]), 1.0 - l1) + 1)


def scatter_ns(plain: Plain, repeats: int = 3) -> float:
    """Nanoseconds an edge costs when all are scattered once in order: what no push can beat for long."""
    into = np.zeros(plain.indptr.size - 1)
    _scatter(plain.indices, plain.chance, into)  # compiles
    best = shortest(lambda: _scatter(plain.indices, plain.chance, into), repeats)
    return best / plain.indices.size * 1e9


def shortest(work: Callable[[], object], repeats: int) -> float:
    """Seconds of the quickest of several runs."""
    best = float("inf")
    for _ in range(repeats):
        began = clock()
        work()
        best = min(best, clock() - began)
    return best


@njit(nogil=True)
def _sweep(
    indptr: Rows,
    indices: Rows,
    chance: Floats,
    restart: float,
    left: Floats,
    error: float,
) -> Floats:
    score = np.zeros(left.size)
    while left.sum() > error:
        for u in range(left.size):
            mass = left[u]
            if mass > 0.0:
                left[u] = 0.0
                score[u] += restart * mass
                for e in range(indptr[u], indptr[u + 1]):
                    left[indices[e]] += (1.0 - restart) * mass * chance[e]
    return score


@njit(nogil=True)
def _scatter(indices: Rows, chance: Floats, into: Floats) -> None:
    for e in range(indices.size):
        into[indices[e]] += 1e-9 * chance[e]
