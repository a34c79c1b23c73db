"""Which memories does the text itself call for? One score per row from vectors, words and neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FusionParams:
    """Weights of the parts of the text score; each part is standardised before it is weighed."""

    pair: float = 0.5  # of each pair's cosine beside the turn's own; memory_systems 4.5
    lexical: float = 1.0  # of BM25 beside the dense part; memory_systems 4.5
    neighbour: float = 0.2  # of the score of the memory before and of the one after; memory_systems 4.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of each of n memories for one query; every array has shape (n,).

    A cosine is NaN where there is no vector. `before` and `after` are row indices of the neighbours in the
    lineage that is asked, -1 where there is none.
    """

    turn: Floats  # cosine of query and memory
    pair_in: Floats  # cosine of query and (memory before + this one)
    pair_out: Floats  # cosine of query and (this one + memory after)
    lexical: Floats  # BM25, >= 0
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    visible: NDArray[np.bool_]


def standardise(values: Floats, among: NDArray[np.bool_]) -> Floats:
    """(value - mean) / deviation, both taken over the finite values in `among`; 0 where that is not defined."""
    known = among & np.isfinite(values)
    out = np.zeros(values.shape, np.float32)
    if np.count_nonzero(known) < 2:
        return out
    sample = values[known].astype(np.float64)
    deviation = sample.std()
    if deviation < 1e-9 * max(1.0, float(np.abs(sample).max())):
        return out  # all alike: the part says nothing, and rounding noise must not
    out[known] = (sample - sample.mean()) / deviation
    return out


def fuse(evidence: Evidence, params: FusionParams | None = None) -> Floats:
    """The text score, shape (n,), higher is better, -inf where not visible.

        d = z(mean of z(turn), z(pair_in), z(pair_out) weighted 1, pair, pair over those that exist)
        f = d + lexical * z(bm25);   score = f + neighbour * (f of before + f of after)

    z is taken over the visible rows. A memory without pairs is judged by its own vector alone.
    """
    p = params or FusionParams()
    visible = evidence.visible
    own = _dense(evidence, p) + p.lexical * standardise(evidence.lexical, visible)
    own = np.where(visible, own, 0).astype(np.float32)
    score = own + p.neighbour * (_at(own, evidence.before) + _at(own, evidence.after))
    return np.where(visible, score, -np.inf).astype(np.float32)


def _dense(evidence: Evidence, p: FusionParams) -> Floats:
    total = np.zeros(evidence.turn.shape, np.float32)
    weight = np.zeros(evidence.turn.shape, np.float32)
    for cosine, share in ((evidence.turn, 1.0), (evidence.pair_in, p.pair), (evidence.pair_out, p.pair)):
        total += share * standardise(cosine, evidence.visible)
        weight += share * np.isfinite(cosine)
    mean = np.full(total.shape, np.nan, np.float32)
    np.divide(total, weight, out=mean, where=weight > 0)
    return standardise(mean, evidence.visible)


def _at(values: Floats, rows: NDArray[np.int64]) -> Floats:
    """`values` at `rows`, 0 where the row is -1."""
    return np.where(rows >= 0, values[rows], 0).astype(np.float32)
