"""Oracles in NumPy of what the compiled kernels compute for the text score."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Bools, Float32s
from soulmem.kernels.texts import NOISE
from soulmem.retrieval.fusion import FusionParams, RowNumbers, TextEvidence, _by_script

_T = TypeVar("_T", np.float32, np.int32)


def standardise(values: Float32s, among: Bools) -> Float32s:
    """(value - mean) / deviation, both over the finite values in `among`; 0 where that is not defined."""
    finite = among & np.isfinite(values)
    out = np.zeros(values.shape, np.float32)
    sample = values[finite]
    if sample.size < 2:
        return out
    centred = sample - np.float32(sample.mean(dtype=np.float64))
    deviation, usual = (float(np.sqrt(np.dot(x, x) / sample.size)) for x in (centred, sample))
    if deviation < NOISE * max(1.0, usual):
        return out  # all alike in float32: the part says nothing, and rounding noise must not
    out[finite] = centred / np.float32(deviation)
    return out


def combined(text: Float32s, walked: Float32s, visible: Bools, share: float) -> Float32s:
    """z(text) + share * z(sqrt(walked)), over the visible rows; -inf elsewhere."""
    out = standardise(text, visible)
    out += np.float32(share) * standardise(np.sqrt(walked).astype(np.float32), visible)
    out[~visible] = -np.inf
    return out


def fused_score(evidence: TextEvidence, params: FusionParams | None = None) -> Float32s:
    """The text score, shape (n,), higher is better, -inf where not visible.

    `own_score`, then `with_neighbours`.
    """
    e = evidence
    return with_neighbours(own_score(e, params), e.before, e.after, e.visible, params)


def own_score(evidence: TextEvidence, params: FusionParams | None = None) -> Float32s:
    """What each memory's own text is worth, told together with what stands beside it; 0 where not visible.

        part(x) = z(mean of z(x alone), z(x of pair_before), z(x of pair_after), over those that exist)
        f = part(cosine) + lexical * part(BM25)

    z is taken over the visible rows. A memory without pairs is judged by itself alone. One that has no vector
    yet counts as well by meaning as by words: beside those that have one it would be behind for coming later.
    Where the query has no words of a memory's script, words tell nothing of it: it counts as well by words as
    by meaning. And meaning is judged among its like, for cosines are higher within a language. Of 30 facts
    asked for in the other of two languages that puts 29 instead of 20 among the first two.
    """
    p = params or FusionParams()
    e = evidence
    words_in = (
        e.lexical_before
        if e.lexical_before is not None
        else np.full(e.lexical.shape, np.nan, np.float32)
    )
    meaning, words = (
        (e.alone, e.pair_before, e.pair_after),
        (e.lexical, words_in, _at(words_in, e.after, np.nan)),
    )
    groups = _by_script(e, p.few)
    meaning_score = sum(
        (_part(meaning, group) for group in groups),
        np.zeros(e.visible.shape, np.float32),
    )
    word_score = _part(words, groups[0])
    own = np.where(groups[0] & ~np.any(np.isfinite(meaning), axis=0), word_score, meaning_score)
    if len(groups) == 1:
        own += p.lexical * word_score
    else:
        own += p.lexical * np.where(groups[1], own, word_score)
    return np.where(e.visible, own, 0).astype(np.float32)


def with_neighbours(
    own: Float32s,
    before: RowNumbers,
    after: RowNumbers,
    visible: Bools,
    params: FusionParams | None = None,
) -> Float32s:
    """f + neighbour * f(beside) + neighbour^2 * f(two away), on both sides; -inf where not visible."""
    p = params or FusionParams()
    score = own.copy()
    for beside in (before, after):
        two_away = _at(beside, beside, -1)
        score += p.neighbour * _at(own, beside, 0) + p.neighbour**2 * _at(own, two_away, 0)
    return np.where(visible, score, -np.inf).astype(np.float32)


def _part(views: tuple[Float32s, Float32s, Float32s], visible: Bools) -> Float32s:
    """One kind of evidence over a memory alone and in its two pairs."""
    total = np.zeros(visible.shape, np.float32)
    count = np.zeros(visible.shape, np.float32)
    for view in views:
        total += standardise(view, visible)
        count += np.isfinite(view)
    mean = np.full(visible.shape, np.nan, np.float32)
    np.divide(total, count, out=mean, where=count > 0)
    return standardise(mean, visible)


def _at(values: NDArray[_T], rows: RowNumbers, missing: float) -> NDArray[_T]:
    """`values` at `rows`, `missing` where the row is -1."""
    out = values[rows] if values.size else values.copy()
    out[rows < 0] = missing
    return out
