"""Oracle of the walks: personalised PageRank by power iteration over a sparse matrix.

    y = seeds + (1 - restart) * y * P0,   P0[u] = 0 at sinks and boundary nodes

Income y is all walk that ever arrived, sinks keep what arrives. Iterated from 0 it only
grows. Of a walk of 1, restart * y has ended, (1 - restart) * y[sink] has gone back to the
seeds, (1 - restart) * y[boundary] is stuck and the rest is still on its way. What went
back to the seeds walks like the whole, so dividing by what did not go back gives the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from soulmem.kernels.csr import Csr, Flags, Floats, Ids
from soulmem.kernels.tuning import Tuning, check_tuning, transition
from soulmem.kernels.walk import Walker, check_seeds
from soulmem.kernels.walk_result import Walk, WalkParams, to_walk

MOST_SWEEPS = 2000  # more than any restart >= 0.02 needs for an error of 1e-12


@dataclass(frozen=True, slots=True)
class Transitions:
    """P0 transposed, as a matrix of SciPy, and which nodes are sinks."""

    matrix: Any  # scipy.sparse.csc_array[n, n]
    sink: Flags


class PowerWalker(Walker):
    """Walks by power iteration."""

    def walk(
        self,
        seeds: Ids,
        share: Floats,
        params: WalkParams,
        tuning: Tuning | None = None,
    ) -> Walk:
        check_seeds(self.graph, seeds, share, tuning)
        if tuning is not None:
            check_tuning(self.graph, tuning)
        return power_walk(self.graph.packed(), seeds, share, params, tuning)


def transitions(graph: Csr, tuning: Tuning | None) -> Transitions:
    """The matrix of one query."""
    from scipy.sparse import csr_array

    chance, sink = transition(graph, tuning)
    shape = (graph.nodes, graph.nodes)
    matrix = csr_array(
        (chance, graph.indices.astype(np.int64), graph.indptr.astype(np.int64)),
        shape=shape,
    )
    return Transitions(matrix.T, sink)


def power_walk(
    graph: Csr,
    seeds: Ids,
    share: Floats,
    params: WalkParams,
    tuning: Tuning | None,
) -> Walk:
    """The walk by power iteration."""
    steps = transitions(graph, tuning)
    start: Floats = np.bincount(seeds, weights=share, minlength=graph.nodes).astype(
        np.float64
    )
    boundary = None if tuning is None else tuning.boundary
    go_on = 1 - params.restart
    income, visits = start, 0
    for _ in range(MOST_SWEEPS):
        back = go_on * float(income[steps.sink].sum())
        stuck = 0.0 if boundary is None else go_on * float(income[boundary].sum())
        error = (1 - back - params.restart * float(income.sum())) / (1 - back)
        if error - stuck / (1 - back) <= enough(params.l1, stuck / (1 - back)):
            break
        income = start + go_on * (steps.matrix @ income)
        visits += graph.indices.size
    rows = np.flatnonzero(income).astype(np.uint32)
    return to_walk(rows, income[rows], back, params, boundary, visits)


def enough(l1: float, stuck: float) -> float:
    """How much walk may be on its way at the end: what the error asked for leaves beside the stuck walk.

    Never less than half of it: when more than that is stuck, loading more rows helps and pushing does not.
    """
    return max(l1 - stuck, l1 / 2)
