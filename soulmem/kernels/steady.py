"""Steady state of node potentials under repeated passing.

    x = f(g * W^T x + s),   f(y) = tanh(y),   W[u, v] = w(u, v) / sqrt(sum w(u, :) * sum w(:, v))

f is 1-Lipschitz, so with g * ||W|| < 1 a round is a contraction: there is exactly one such
state, every start leads to it, and the remaining distance is bounded after each round
(Banach). With weights shared by fan on both sides ||W|| <= 1 (Schur's test).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from soulmem.kernels.arrays import Float64s
from soulmem.kernels.csr import Csr
from soulmem.kernels.tuning import Tuning, tuned_weight


@dataclass(frozen=True, slots=True)
class SteadyParams:
    """Gain and accuracy of a steady state. Raises ValueError out of range."""

    gain: float = 0.5  # 0..1, < 1: of 1 / ||W||; higher, and potential comes further
    error: float = 1e-3  # > 0, of the potentials together, as a Euclidean length

    def __post_init__(self) -> None:
        if not 0 <= self.gain < 1:
            raise ValueError(f"gain {self.gain} is outside 0..1: with 1 or more it need not settle")
        if not self.error > 0:
            raise ValueError(f"error {self.error} is not above 0")


@dataclass(frozen=True, slots=True)
class Steady:
    """The potential of each node, and how it was reached.

    potential    float64[n]  0..1
    contraction  factor, < 1, by which a round shrinks the distance of any two states at least
    error        bound of the Euclidean distance to the true state
    rounds       number of rounds computed
    """

    potential: Float64s
    contraction: float
    error: float
    rounds: int


def steady(
    graph: Csr,
    stimulus: Float64s,
    params: SteadyParams | None = None,
    tuning: Tuning | None = None,
    start: Float64s | None = None,
) -> Steady:
    """The steady state; boundary nodes of `tuning` are ignored.

    stimulus  float64[n]  s, >= 0
    start     float64[n]  initial state, 0 unless given; does not affect the result
    """
    p = params or SteadyParams()
    back, takes = _passing(graph, tuned_weight(graph, tuning).astype(np.float64))
    bound = norm_bound(back, np.sqrt(takes))
    gain = p.gain / bound if bound > 0 else 0.0
    contraction = gain * bound
    x: Float64s = np.zeros(graph.nodes) if start is None else start
    rounds = 0
    while True:
        following = np.tanh(gain * (back @ x) + stimulus)
        rounds += 1
        error = contraction / (1 - contraction) * float(np.linalg.norm(following - x))
        x = following
        if error <= p.error:
            return Steady(x, contraction, error, rounds)


def norm_bound(back: Any, v: Float64s) -> float:
    """Upper bound of the Euclidean norm of a matrix without negative entries.

        max over i of (M^T M v)[i] / v[i]  bounds the largest eigenvalue of M^T M (Collatz, Wielandt)

    back  the matrix transposed
    v     float64[columns], > 0 where a column has an entry
    """
    there = v > 0
    image = back @ (back.T @ v)
    return float(np.sqrt((image[there] / v[there]).max())) if there.any() else 0.0


def _passing(graph: Csr, weight: Float64s) -> tuple[Any, Float64s]:
    """W transposed, as a SciPy matrix, and the sum of weights into each node, float64[n]."""
    from scipy.sparse import csr_array

    source, target = graph.sources, graph.indices
    gives, takes = (
        np.bincount(end, weights=weight, minlength=graph.nodes).astype(np.float64)
        for end in (source, target)
    )
    fan = np.sqrt(gives[source] * takes[target])
    share = np.divide(weight, fan, out=np.zeros_like(weight), where=fan > 0)
    shape = (graph.nodes, graph.nodes)
    matrix = csr_array((share, target.astype(np.int64), graph.indptr.astype(np.int64)), shape=shape)
    return matrix.T.tocsr(), takes
