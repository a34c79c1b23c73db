"""Spreading activation over weighted links, in rounds.

    A[j] += D * unsent[i] * W[i, j] / max(1, sum of W[i, :])        for every firing i, all at once

A node fires while its activation is above the threshold F and it has received energy that
it has not passed on. Every bit of energy is passed on once, and the order of nodes does
not matter. Sharing by fan bounds the result on any graph: A sums to at most
(1 + D + .. + D^rounds) * start. Anderson 1983, https://doi.org/10.1016/S0022-5371(83)90201-3,
with the fan in the place of raw counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Float64s, Int64s


@dataclass(frozen=True, slots=True)
class SpreadParams:
    """Parameters of a spread; seed 002, table 2, gives the first four. Raises ValueError out of range."""

    start: float = 1.0  # 0..1, > 0: energy of a seed
    threshold: float = 0.05  # F, 0..1: higher, and fewer nodes fire
    transmission: float = 0.5  # D, 0..1: share that is passed on; higher, and energy comes further
    rounds: int = 10  # 3..10
    delta: float = 1e-3  # 0..1, > 0: a round that moves less energy is the last

    def __post_init__(self) -> None:
        for name, low, high in (
            ("threshold", 0, 1),
            ("transmission", 0, 1),
            ("rounds", 3, 10),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name} {value} is outside {low}..{high}")
        for name in ("start", "delta"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise ValueError(f"{name} {value} is not above 0 and at most 1")


class StopReason(str, Enum):
    """What ended the spreading."""

    QUIET = "quiet"  # nothing was left that could fire
    DELTA = "delta"
    ROUNDS = "rounds"


@dataclass(frozen=True, slots=True)
class Links:
    """Weighted links by source: those of node u are the positions indptr[u]:indptr[u + 1].

    indptr   int64[n + 1]
    indices  int64[m]    target of each link
    weight   float64[m]  >= 0; a node's energy is shared in proportion where they sum to over 1
    """

    indptr: Int64s
    indices: Int64s
    weight: Float64s

    @staticmethod
    def of(n: int, source: Int64s, target: Int64s, weight: Float64s) -> Links:
        """The links source[i] -> target[i] among n nodes."""
        order = np.argsort(source, kind="stable")
        indptr = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(source, minlength=n), out=indptr[1:])
        return Links(indptr, target[order], weight[order])


@dataclass(frozen=True, slots=True)
class Activation:
    """Result of a spread.

    energy  float64[n]  >= 0
    parent  int64[n]    node that first brought energy, the most if several did; -1 for seeds and
                        unreached nodes: following parents leads to a seed
    fired   bool[n]     the node passed energy on
    rounds  number of rounds that moved energy, 0..params.rounds
    """

    energy: Float64s
    parent: Int64s
    fired: npt.NDArray[np.bool_]
    rounds: int
    stopped: StopReason


def spread(
    links: Links,
    seeds: Int64s,
    params: SpreadParams | None = None,
    share: Float64s | None = None,
) -> Activation:
    """Spread energy from the seeds; a node may be a seed more than once.

    share  float64[k], 0..1  of `start` for each seed, 1 unless given
    """
    p = params or SpreadParams()
    n = links.indptr.size - 1
    shares = np.ones(seeds.size) if share is None else share
    energy: Float64s = np.bincount(seeds, weights=p.start * shares, minlength=n).astype(np.float64)
    unsent = energy.copy()
    parent = np.full(n, -1, np.int64)
    fired = np.zeros(n, np.bool_)
    for done in range(p.rounds):
        firing = np.flatnonzero((energy > p.threshold) & (unsent > 0))
        if not firing.size:
            return Activation(energy, parent, fired, done, StopReason.QUIET)
        source, target, passed = _passed(links, firing, p.transmission * unsent[firing])
        fired[firing] = True
        unsent[firing] = 0.0
        _take_parents(parent, energy, source, target, passed)
        received = np.bincount(target, weights=passed, minlength=n)
        energy += received
        unsent += received
        if received.sum() < p.delta:
            return Activation(energy, parent, fired, done + 1, StopReason.DELTA)
    return Activation(energy, parent, fired, p.rounds, StopReason.ROUNDS)


def _passed(links: Links, firing: Int64s, amount: Float64s) -> tuple[Int64s, Int64s, Float64s]:
    """Source, target and energy of every link that leaves a firing node with its amount."""
    count = np.diff(links.indptr)[firing]
    of = np.repeat(np.arange(firing.size), count)
    skip = np.repeat(links.indptr[firing] - (np.cumsum(count) - count), count)
    position = skip + np.arange(of.size)
    weight = links.weight[position]
    fan = np.maximum(np.bincount(of, weights=weight, minlength=firing.size), 1.0)
    return firing[of], links.indices[position], (amount / fan)[of] * weight


def _take_parents(
    parent: Int64s, energy: Float64s, source: Int64s, target: Int64s, passed: Float64s
) -> None:
    """Set the parent of newly reached nodes: the source of most energy, of equals the lowest."""
    new = np.flatnonzero((energy[target] == 0) & (passed > 0))
    order = new[np.lexsort((-source[new], passed[new]))]  # the last one written stays
    parent[target[order]] = source[order]
