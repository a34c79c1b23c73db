"""At which potentials do nodes settle when each passes on what it has, over and over?

    x = f(g * W^T x + s),   f(y) = tanh(y),   W[u, v] = w(u, v) / sqrt(sum w(u, :) * sum w(:, v))

f is 1-Lipschitz, so where g * ||W|| < 1 a round is a contraction: there is exactly one such state, every
start leads to it, and after each round it is known how far it still is (Banach). Loops need no care. With
weights that are shared by fan on both sides ||W|| <= 1 (Schur's test), however large a hub.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from soulmem.kernels.csr import Csr, Floats
from soulmem.kernels.tuning import Tuning, tuned_weight


@dataclass(frozen=True, slots=True)
class SteadyParams:
    """How much is passed on, and how exactly the state is found. Raises ValueError out of range."""

    gain: float = 0.5  # 0..1, < 1: of 1 / ||W||; higher, and potential comes further
    error: float = 1e-3  # > 0, of the potentials together, as a Euclidean length

    def __post_init__(self) -> None:
        if not 0 <= self.gain < 1:
            raise ValueError(
                f"gain {self.gain} is outside 0..1: with 1 or more it need not settle"
            )
        if not self.error > 0:
            raise ValueError(f"error {self.error} is not above 0")


@dataclass(frozen=True, slots=True)
class Steady:
    """The potential of each node, and how it was found.

    potential    float64[n]  0..1
    contraction  by which a round brings any two states nearer at least, < 1
    error        how far the true state may be, as a Euclidean length
    """

    potential: Floats
    contraction: float
    error: float
    rounds: int


def steady(
    graph: Csr,
    stimulus: Floats,
    params: SteadyParams | None = None,
    tuning: Tuning | None = None,
    start: Floats | None = None,
) -> Steady:
    """The steady state; all weights of `tuning` count but boundaries.

    stimulus  float64[n]  s, >= 0
    start     float64[n]  where to begin, 0 unless given; the state is the same
    """
    p = params or SteadyParams()
    back, takes = _passing(graph, tuned_weight(graph, tuning).astype(np.float64))
    bound = norm_bound(back, np.sqrt(takes))
    gain = p.gain / bound if bound > 0 else 0.0
    contraction = gain * bound
    x: Floats = np.zeros(graph.nodes) if start is None else start
    rounds = 0
    while True:
        following = np.tanh(gain * (back @ x) + stimulus)
        rounds += 1
        error = contraction / (1 - contraction) * float(np.linalg.norm(following - x))
        x = following
        if error <= p.error:
            return Steady(x, contraction, error, rounds)


def norm_bound(back: Any, v: Floats) -> float:
    """At least the Euclidean norm of a matrix without negative entries.

    back  the matrix transposed
    v     float64[columns], > 0 where a column has an entry

    The largest ratio (M^T M v)[i] / v[i] bounds the largest eigenvalue of M^T M (Collatz, Wielandt).
    """
    there = v > 0
    image = back @ (back.T @ v)
    return float(np.sqrt((image[there] / v[there]).max())) if there.any() else 0.0


def _passing(graph: Csr, weight: Floats) -> tuple[Any, Floats]:
    """W transposed, as a matrix of SciPy, and what each node takes in of the weights, float64[n]."""
    from scipy.sparse import csr_array

    source, target = graph.sources, graph.indices
    gives, takes = (
        np.bincount(end, weights=weight, minlength=graph.nodes).astype(np.float64)
        for end in (source, target)
    )
    fan = np.sqrt(gives[source] * takes[target])
    share = np.divide(weight, fan, out=np.zeros_like(weight), where=fan > 0)
    shape = (graph.nodes, graph.nodes)
    matrix = csr_array(
        (share, target.astype(np.int64), graph.indptr.astype(np.int64)), shape=shape
    )
    return matrix.T.tocsr(), takes
