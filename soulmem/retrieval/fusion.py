"""Text score: one score per memory from cosines, BM25 and the scores of its neighbours in the chat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.texts import NOISE
from soulmem.kernels.warm import kernels

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int32]
Bools = NDArray[np.bool_]
_T = TypeVar("_T", np.float32, np.int32)


@dataclass(frozen=True, slots=True)
class FusionParams:
    """Weights of the parts of the text score; each part is standardised before weighting.

    Measured on LoCoMo, MADial-Bench (zh, en) and two role-play chats: .4 to .7 and .1 to .3 score alike.
    """

    lexical: float = 0.5  # weight of BM25 beside the cosine part
    neighbour: float = 0.15  # weight of the score of a direct neighbour; its square is that of the next one
    few: int = 8  # least memories of a script for which scores are standardised apart


@dataclass(frozen=True, slots=True)
class TextEvidence:
    """The text evidence of n memories for one query; every array has shape (n,).

    A pair is a memory and the one before it, or after it, taken as one text. A cosine or pair score is NaN
    where there is none. `before` and `after` are the rows of the neighbours in the chat, -1 where there is
    none.
    """

    alone: Floats  # cosine of query and memory
    pair_before: Floats  # cosine of query and (memory before + this one)
    pair_after: Floats  # cosine of query and (this one + memory after)
    lexical: Floats  # BM25, >= 0
    before: RowNumbers
    after: RowNumbers
    visible: Bools
    lexical_before: Floats | None = (
        None  # BM25 of (memory before + this one); the other pair is derived from it
    )
    unread: Bools | None = None  # memories in a script in which the query has no words


@dataclass(frozen=True, slots=True)
class TextScores:
    """Scores of texts; every array has shape (n,)."""

    score: Floats  # of `fuse`; -inf where not visible
    own: Floats  # of `own_score`; 0 where not visible
    alone: Floats  # the text by itself, without pairs and neighbours; -inf where not visible


def standardise(values: Floats, among: Bools) -> Floats:
    """(value - mean) / deviation, both over the finite values in `among`; 0 where that is not defined."""
    finite = among & np.isfinite(values)
    out = np.zeros(values.shape, np.float32)
    sample = values[finite]
    if sample.size < 2:
        return out
    centred = sample - np.float32(sample.mean(dtype=np.float64))
    deviation, usual = (
        float(np.sqrt(np.dot(x, x) / sample.size)) for x in (centred, sample)
    )
    if deviation < NOISE * max(1.0, usual):
        return out  # all equal in float32: rounding noise must not count
    out[finite] = centred / np.float32(deviation)
    return out


def standardised(values: Floats, among: Bools, rows: NDArray[np.int64]) -> Floats:
    """`standardise` of these rows, shape of `rows`."""
    compiled = kernels()
    if compiled is None:
        return standardise(values, among)[rows]
    group = np.ascontiguousarray(among).view(np.uint8)
    mean, scale = compiled.measure(np.ascontiguousarray(values, np.float32), group, 1)
    row_values = values[rows]
    finite = among[rows] & np.isfinite(row_values)
    out = np.zeros(row_values.shape, np.float32)
    out[finite] = (row_values[finite] - np.float32(mean)) * np.float32(scale)
    return out


def fuse_all(evidence: TextEvidence, params: FusionParams | None = None) -> TextScores:
    """All scores of the texts, by compiled code once it is ready."""
    p, e = params or FusionParams(), evidence
    compiled = kernels()
    if compiled is None:
        nothing = _nothing(e)
        own = own_score(e, p)
        alone = fuse(
            replace(e, pair_before=nothing, pair_after=nothing, lexical_before=None),
            replace(p, neighbour=0.0),
        )
        return TextScores(
            with_neighbours(own, e.before, e.after, e.visible, p), own, alone
        )
    scripts = _by_script(e, p.few)
    group, groups = scripts[0].astype(np.uint8), len(scripts)
    if groups > 1:
        group += scripts[1]
        group += scripts[1]
    score, alone = np.empty((2, group.size), np.float32)
    out = TextScores(score, np.zeros(group.shape, np.float32), alone)
    words_in = _nothing(e) if e.lexical_before is None else e.lexical_before
    views = (e.alone, e.pair_before, e.pair_after, e.lexical, words_in)
    beside = e.before, e.after
    compiled.fuse_texts(
        *views,
        *beside,
        group,
        groups,
        p.lexical,
        p.neighbour,
        out.own,
        out.alone,
        out.score,
    )
    return out


def _nothing(e: TextEvidence) -> Floats:
    """A column without any value."""
    return np.full(e.visible.shape, np.nan, np.float32)


def fuse(evidence: TextEvidence, params: FusionParams | None = None) -> Floats:
    """The text score, shape (n,), higher is better, -inf where not visible.

    `own_score`, then `with_neighbours`.
    """
    e = evidence
    return with_neighbours(own_score(e, params), e.before, e.after, e.visible, params)


def own_score(evidence: TextEvidence, params: FusionParams | None = None) -> Floats:
    """The score of each memory's own text, alone and in its pairs; 0 where not visible.

        part(x) = z(mean of z(x alone), z(x of pair_before), z(x of pair_after), over those that exist)
        f = part(cosine) + lexical * part(BM25)

    z is taken over the visible rows. A memory without pairs is scored by itself alone. One without a vector
    yet gets its word score as its cosine score, so that new memories do not fall behind. Where the query has
    no words in a memory's script, the memory gets its cosine score as its word score, and cosines are
    standardised among memories of such scripts, as they are higher within a language. Of 30 facts asked for in
    the other of two languages this puts 29 instead of 20 among the first two.
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
    own = np.where(
        groups[0] & ~np.any(np.isfinite(meaning), axis=0), word_score, meaning_score
    )
    if len(groups) == 1:
        own += p.lexical * word_score
    else:
        own += p.lexical * np.where(groups[1], own, word_score)
    return np.where(e.visible, own, 0).astype(np.float32)


def with_neighbours(
    own: Floats,
    before: RowNumbers,
    after: RowNumbers,
    visible: Bools,
    params: FusionParams | None = None,
) -> Floats:
    """f + neighbour * f(beside) + neighbour^2 * f(two away), on both sides; -inf where not visible."""
    p = params or FusionParams()
    score = own.copy()
    for beside in (before, after):
        two_away = _at(beside, beside, -1)
        score += p.neighbour * _at(own, beside, 0) + p.neighbour**2 * _at(
            own, two_away, 0
        )
    return np.where(visible, score, -np.inf).astype(np.float32)


def _by_script(e: TextEvidence, few: int) -> tuple[Bools, ...]:
    """The visible rows in a script of the query, and the others; one group where either are fewer than `few`."""
    if e.unread is not None:
        foreign = e.visible & e.unread
        own = e.visible & ~e.unread
        if min(np.count_nonzero(foreign), np.count_nonzero(own)) >= few:
            return own, foreign
    return (e.visible,)


def _part(views: tuple[Floats, Floats, Floats], visible: Bools) -> Floats:
    """`part` of `own_score`: one kind of evidence, of the memory alone and in its two pairs."""
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
