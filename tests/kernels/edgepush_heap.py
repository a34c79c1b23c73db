"""What does EdgePush answer, as its authors published it: one heap of out-edges per node?

Wang, Wei, Gan, Yuan, Du, Wen: "Edge-based Local Push for Personalized PageRank", PVLDB 15(7),
arXiv 2203.07937. An oracle for our own push: the same invariant, another algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.uint32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pushed:
    """`score` float64[n] stays below the true values by `error` in sum; `visits` counts pushed edges."""

    score: Floats
    error: float
    visits: int


class _State(NamedTuple):
    """The graph, and what one push knows; [n] by node, [m] by edge."""

    indptr: Rows
    indices: Rows
    chance: Floats  # [m] share of the row's weight
    root: Floats  # [m] share of the whole threshold that falls to the edge
    income: Floats  # [n] everything that was ever received
    expense: Floats  # [m] everything that was ever sent
    key: Floats  # [m] per node a heap of the incomes at which its edges become due ..
    heap: Rows  # [m] .. and the edges themselves
    heaped: Flags  # [n] whether a node's heap is made
    queued: Flags  # [n]
    queue: Rows  # [n] a ring
    touched: Rows  # [n]


class EdgePush:
    """A graph made ready to be pushed over: every node needs an out-edge, every weight is above 0.

    `indptr` [n + 1], `indices` [m], `weight` [m]: out-edges of a node by weight descending.
    """

    def __init__(self, indptr: Rows, indices: Rows, weight: Floats) -> None:
        starts = indptr.astype(np.int64)
        degree = starts[1:] - starts[:-1]
        if not degree.all():
            raise ValueError("EdgePush knows no sinks")
        n, m = degree.size, indices.size
        root = np.sqrt(weight.astype(np.float64))
        total = np.add.reduceat(weight.astype(np.float64), starts[:-1])
        self._state = _State(
            indptr=indptr,
            indices=indices,
            chance=weight / np.repeat(total, degree),
            root=root / root.sum(),
            income=np.zeros(n),
            expense=np.zeros(m),
            key=np.zeros(m),
            heap=np.zeros(m, np.uint32),
            heaped=np.zeros(n, np.bool_),
            queued=np.zeros(n, np.bool_),
            queue=np.zeros(n, np.uint32),
            touched=np.zeros(n, np.uint32),
        )

    def push(self, seeds: Rows, share: Floats, restart: float, l1: float) -> tuple[int, int]:
        """Push until every edge's residue is below its threshold; the L1 error is then at most `l1`.

        How many nodes were touched and edges pushed. Call `take` or `reset` next.
        """
        touched, visits = _push(self._state, seeds, share, 1.0 - restart, l1)
        return int(touched), int(visits)

    def take(self, touched: int, restart: float) -> Floats:
        """The scores of the last push, dense; its traces are gone afterwards."""
        score: Floats = restart * self._state.income
        self.reset(touched)
        return score

    def reset(self, touched: int) -> None:
        """Forget the last push."""
        _reset(self._state, touched)

    def walk(self, seeds: Rows, share: Floats, restart: float, l1: float) -> Pushed:
        """Push and take; what is unsent would arrive somewhere, so scores sum to 1 - error."""
        touched, visits = self.push(seeds, share, restart, l1)
        score = self.take(touched, restart)
        return Pushed(score, float(1.0 - score.sum()), visits)


@njit(nogil=True)
def _due(s: _State, u: int, l1: float) -> float:
    """The income, less restart, at which a node's first edge has to be pushed."""
    first = s.indptr[u]
    return s.key[first] if s.heaped[u] else l1 * s.root[first] / s.chance[first]  # type: ignore[no-any-return]


@njit(nogil=True)
def _make_heap(s: _State, u: int, l1: float) -> None:
    """By descending weight theta / P ascends, so the row in its order is a heap."""
    s.heaped[u] = True
    for e in range(s.indptr[u], s.indptr[u + 1]):
        s.heap[e] = e
        s.key[e] = l1 * s.root[e] / s.chance[e]


@njit(nogil=True)
def _sift(s: _State, u: int, due: float, edge: int) -> None:
    """Put `edge` at the root of a node's heap in place of what was there, and let it sink."""
    first = s.indptr[u]
    size = s.indptr[u + 1] - first
    place = np.uint32(0)
    while True:
        child = np.uint32(2) * place + np.uint32(1)
        if child >= size:
            break
        if (
            child + np.uint32(1) < size
            and s.key[first + child + np.uint32(1)] < s.key[first + child]
        ):
            child += np.uint32(1)
        if s.key[first + child] >= due:
            break
        s.key[first + place] = s.key[first + child]
        s.heap[first + place] = s.heap[first + child]
        place = child
    s.key[first + place] = due
    s.heap[first + place] = edge


@njit(nogil=True)
def _push(s: _State, seeds: Rows, share: Floats, onward: float, l1: float) -> tuple[int, int]:
    n = s.queue.size
    existing = visits = head = tail = waiting = 0
    for i in range(seeds.size):
        if s.income[seeds[i]] == 0.0:
            s.touched[existing] = seeds[i]
            existing += 1
            s.queued[seeds[i]] = True
            s.queue[waiting] = seeds[i]
            waiting += 1
        s.income[seeds[i]] += share[i]
    tail = waiting % n
    while waiting > 0:
        u = s.queue[head]
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        s.queued[u] = False
        if not s.heaped[u]:
            _make_heap(s, u, l1)
        first = s.indptr[u]
        while onward * s.income[u] > s.key[first]:
            e = s.heap[first]
            sent = onward * s.income[u] * s.chance[e] - s.expense[e]
            s.expense[e] += sent
            visits += 1
            _sift(s, u, s.key[first] + sent / s.chance[e], e)
            v = s.indices[e]
            if s.income[v] == 0.0:
                s.touched[existing] = v
                existing += 1
            s.income[v] += sent
            if not s.queued[v] and onward * s.income[v] > _due(s, v, l1):
                s.queued[v] = True
                s.queue[tail] = v
                tail = tail + 1 if tail + 1 < n else 0
                waiting += 1
    return existing, visits


@njit(nogil=True)
def _reset(s: _State, touched: int) -> None:
    for i in range(touched):
        u = s.touched[i]
        s.income[u] = 0.0
        if s.heaped[u]:
            s.heaped[u] = False
            for e in range(s.indptr[u], s.indptr[u + 1]):
                s.expense[e] = 0.0
