"""Parameters and result of a walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from soulmem.kernels.arrays import Bools, Float64s
from soulmem.kernels.csr import Ids


@dataclass(frozen=True, slots=True)
class WalkParams:
    """Length and accuracy of a walk."""

    restart: float = 0.5  # chance to return to the seeds at each step, 0 < restart <= 1
    l1: float = 1e-2  # the error asked for, as the sum of absolute differences, > 0

    def __post_init__(self) -> None:
        if not 0 < self.restart <= 1 or not self.l1 > 0:
            raise ValueError(f"restart must be in 0..1 and l1 positive, not {self}")


@dataclass(frozen=True, slots=True)
class Walk:
    """Score of each node reached, a lower bound of the true score; other nodes score 0.

        pi = restart * seeds + (1 - restart) * pi * P

    rows        uint32[t]   nodes reached, in no order
    score       float64[t]  <= pi
    error       sum of pi - score over all nodes, exact but for rounding
    visits      number of edges visited
    stuck_rows  uint32[b]   boundary nodes reached
    stuck       float64[b]  mass that waits at each of them; part of `error`
    """

    rows: Ids
    score: Float64s
    error: float
    visits: int
    stuck_rows: Ids
    stuck: Float64s

    def top(self, k: int) -> tuple[Ids, Float64s]:
        """The k nodes of highest score, and their scores, best first; of equals the lower node first."""
        best = np.arange(self.rows.size)
        if k < best.size:
            floor = np.partition(self.score, -k)[-k] if k > 0 else np.inf
            best = np.flatnonzero(self.score >= floor)
        order = best[np.lexsort((self.rows[best], -self.score[best]))][: max(k, 0)]
        return self.rows[order], self.score[order]


def to_walk(
    rows: Ids,
    income: Float64s,
    back: float,
    params: WalkParams,
    boundary: Bools | None,
    visits: int,
) -> Walk:
    """The result from the nodes reached and their income; `back` returned from sinks to the seeds.

    Income is all walk that ever arrived at a node, of a walk of 1 from the seeds. What
    returns to the seeds walks like the whole, so dividing by 1 - back accounts for it.
    """
    score = params.restart / (1 - back) * income
    halted = np.zeros(rows.size, np.bool_) if boundary is None else boundary[rows]
    return Walk(
        rows=rows,
        score=score,
        error=max(0.0, 1.0 - float(score.sum())),
        visits=visits,
        stuck_rows=rows[halted],
        stuck=(1 - params.restart) / (1 - back) * income[halted],
    )
