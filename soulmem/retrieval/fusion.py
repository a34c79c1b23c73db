"""Text score: one score per memory from cosines, BM25 and the scores of its neighbours in the chat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Bools, Float32s
from soulmem.kernels.warm import kernels
from soulmem.retrieval.best import best_rows

RowNumbers = NDArray[np.int32]

_STANDS_OUT = 2.5  # standard deviations above what memories usually score


@dataclass(frozen=True, slots=True)
class FusionParams:
    """Weights of the parts of the text score; each part is standardised before weighting.

    Measured on LoCoMo, MADial-Bench (zh, en) and two role-play chats: .4 to .7 and .1 to .3 score alike.
    """

    lexical: float = 0.5  # weight of BM25 beside the cosine part
    # weight of the score of a direct neighbour; its square is that of the next one
    neighbour: float = 0.15
    few: int = 8  # least memories of a script for which scores are standardised apart


@dataclass(frozen=True, slots=True)
class TextEvidence:
    """The text evidence of n memories for one query; every array has shape (n,).

    A pair is a memory and the one before it, or after it, taken as one text. A cosine or pair score is NaN
    where there is none. `before` and `after` are the rows of the neighbours in the chat, -1 where there is
    none.
    """

    alone: Float32s  # cosine of query and memory
    pair_before: Float32s  # cosine of query and (memory before + this one)
    pair_after: Float32s  # cosine of query and (this one + memory after)
    lexical: Float32s  # BM25, >= 0
    before: RowNumbers
    after: RowNumbers
    visible: Bools
    # BM25 of (memory before + this one); the other pair is derived from it
    lexical_before: Float32s | None = None
    unread: Bools | None = None  # memories in a script in which the query has no words


@dataclass(frozen=True, slots=True)
class TextScores:
    """Scores of texts; every array has shape (n,)."""

    score: Float32s  # with the neighbours; -inf where not visible
    own: Float32s  # with the pairs; 0 where not visible
    alone: Float32s  # the text by itself, without pairs and neighbours; -inf where not visible


def standardised(values: Float32s, among: Bools, rows: NDArray[np.int64]) -> Float32s:
    """(value - mean) / deviation of these rows, over the finite values in `among`.

    Shape of `rows`; 0 where it is not defined, and where the values in `among` are alike.
    """
    group = np.ascontiguousarray(among).view(np.uint8)
    measure = kernels(values.size).measure
    mean, scale = measure(np.ascontiguousarray(values, np.float32), group, 1)
    row_values = values[rows]
    finite = among[rows] & np.isfinite(row_values)
    out = np.zeros(row_values.shape, np.float32)
    out[finite] = (row_values[finite] - np.float32(mean)) * np.float32(scale)
    return out


def stands_out(score: Float32s, visible: Bools) -> bool:
    """Whether the best text score is far above what visible memories usually have."""
    best = best_rows(score, 1)
    return bool((standardised(score, visible, best) > _STANDS_OUT).any())


def fuse(evidence: TextEvidence, params: FusionParams | None = None) -> TextScores:
    """The text scores of all memories; higher is better.

        part(x) = z(mean of z(x alone), z(x of pair_before), z(x of pair_after), over those that exist)
        own     = part(cosine) + lexical * part(BM25)
        score   = own + neighbour * own(beside) + neighbour^2 * own(two away), on both sides

    z is taken over the visible rows. A memory without pairs is scored by itself alone. One without a vector
    yet gets its word score as its cosine score, so that new memories do not fall behind. Where the query has
    no words in a memory's script, the memory gets its cosine score as its word score, and cosines are
    standardised among memories of such scripts, as they are higher within a language. Of 30 facts asked for in
    the other of two languages this puts 29 instead of 20 among the first two.
    """
    p, e = params or FusionParams(), evidence
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
    kernels(group.size).fuse_texts(
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


def _nothing(e: TextEvidence) -> Float32s:
    """A column without any value."""
    return np.full(e.visible.shape, np.nan, np.float32)


def _by_script(e: TextEvidence, few: int) -> tuple[Bools, ...]:
    """The visible rows in a script of the query, and the others; one group where either are fewer than `few`."""
    if e.unread is not None:
        foreign = e.visible & e.unread
        own = e.visible & ~e.unread
        if min(np.count_nonzero(foreign), np.count_nonzero(own)) >= few:
            return own, foreign
    return (e.visible,)
