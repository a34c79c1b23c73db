"""Late interaction in a recall: the best texts are compared with the query token by token."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.line_matches import token_matches
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Float32s, Float64s, Int64s
from soulmem.ports.embedder import TokenStates
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised

Positions = NDArray[np.int64]


# How token matches make a score. Flat: beside .3 to .7; around 2 to 4.
_BESIDE = 0.5  # weight of the match that a neighbour in the chat may lend
# How many times as long as a memory the query is where its side counts alone, and where the memory's does.
_EVEN = 1.0
_AROUND = 3.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of memories to compare, and the number of all.

    before, after  int64[m]    position of the neighbour in the chat among the compared ones, -1 for none
    weight         float64[m]  how many memories each stands for, where means are taken; 0 for a mere neighbour
    """

    before: Positions
    after: Positions
    weight: Float64s


@dataclass(frozen=True, slots=True)
class LateScores:
    """Standardised scores of the compared memories, float64[m]; NaN for one without token states."""

    score: Float64s
    alone: Float64s  # without neighbours


def late_scores(
    best: Float32s,
    covered: Float32s,
    idf: Float32s,
    length: NDArray[np.int64],
    sample: Sample,
) -> LateScores:
    """The scores of one text of the query.

        own     = z(sum over tokens t of the query: idf_t * best(t))
        forward = z(own + beside * wide(this one) + beside * wide(the one after))
        wide    = as own, with the best match in a memory or the one before it
        score   = (1 - turned) * forward + turned * z(covered)

    turned rises from 0 to 1 where the query is `even` to `around` times as long as a memory on average.

    best     float32[q, m]  cosine of each token of the query with its best token of each memory
    covered  float32[m]     the other way round, as `TokenMatches`
    idf      float32[q]
    length   int64[m]       tokens of each memory, 0 without token states
    """
    share = idf / max(float(idf.sum()), 1e-9)
    own = standardise(share @ best, sample.weight)
    wide = standardise(share @ wide_matches(best, sample.before), sample.weight)
    following = wide[sample.after]
    following[sample.after < 0] = wide[sample.after < 0]
    following = np.where(np.isnan(following), wide, following)
    forward = standardise(own + _BESIDE * (wide + following), sample.weight)
    turned = _turned(best.shape[0], length, sample.weight)
    if turned == 0.0:
        return LateScores(forward, own)
    backward = standardise(covered, sample.weight)
    score = (1 - turned) * forward + turned * backward
    return LateScores(score, (1 - turned) * own + turned * backward)


def wide_matches(best: Float32s, before: Positions) -> Float32s:
    """The best match of each token in a memory or in the one before it; float32[q, m]."""
    lent = best[:, before]
    lent[:, before < 0] = -1.0
    return np.where(lent > best, lent, best)


def standardise(values: NDArray[np.floating], weight: Float64s) -> Float64s:
    """(value - mean) / deviation; both by `weight`, over the values that are numbers. 0 where all are alike."""
    out = np.asarray(values, np.float64)
    counted = np.where(np.isnan(out), 0.0, weight)
    total = max(float(counted.sum()), 1e-9)
    finite = np.nan_to_num(out)
    mean = float((counted * finite).sum()) / total
    variance = float((counted * (finite - mean) ** 2).sum()) / total
    scale = 1.0 / np.sqrt(variance) if variance > 1e-12 else 0.0
    return np.asarray((out - mean) * scale, np.float64)


def _turned(tokens: int, length: NDArray[np.int64], weight: Float64s) -> float:
    """How far the side of the memory counts, 0..1."""
    counted = weight * (length > 0)
    if not counted.any():
        return 0.0
    mean = float((counted * length).sum() / counted.sum())
    return float(np.clip((tokens / mean - _EVEN) / (_AROUND - _EVEN), 0.0, 1.0))


# Texts that are compared token by token: the best by vectors and words, and some of all others, which tell what
# is usual. Beyond 120 nothing is gained on any measured set.
CANDIDATES = 120
_OTHERS = 32


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """The token states of the texts of a query, each with its share; the last text is the newest."""

    parts: tuple[tuple[TokenStates, float], ...]


@dataclass(frozen=True, slots=True)
class _Compared:
    """The rows that are compared: `core` are scored, the rest are their neighbours."""

    rows: Int64s
    core: Int64s  # positions in `rows`
    sample: Sample


@compute_only
def interact(
    mind: Mind, context: RecallContext, scores: TextScores, query: QueryTokens
) -> TextScores | None:
    """Score the best texts token by token. None where no text is visible.

    A text that is not compared keeps its score, but none above the mean.
    """
    base = _standardised(scores.score, context)
    compared = _compared(mind, context, scores)
    if not compared.core.size:
        return None
    total = np.zeros(compared.rows.size)
    alone = np.zeros(compared.rows.size)
    chat = context.request.chat
    whole = max(share for _, share in query.parts)
    for states, share in query.parts:
        if not share or not states.pieces.size:
            continue
        matches = token_matches(mind, chat, states, compared.rows)
        late = late_scores(
            matches.best,
            matches.covered,
            matches.idf,
            matches.length,
            compared.sample,
        )
        weight = share / whole
        total += weight * _or_base(late.score, base, compared)
        alone += weight * _or_base(late.alone, base, compared)
    rows = compared.rows[compared.core]
    score = np.minimum(base, 0.0).astype(np.float32)
    score[~context.visible] = -np.inf
    score[rows] = standardise(total, compared.sample.weight)[compared.core]
    own = np.where(context.visible, score, 0.0).astype(np.float32)
    text_alone = scores.alone.copy()
    text_alone[rows] = standardise(alone, compared.sample.weight)[compared.core]
    return replace(scores, score=score, own=own, alone=text_alone, by_tokens=True)


def _standardised(score: NDArray[np.float32], context: RecallContext) -> Float64s:
    rows = np.arange(score.size)
    return standardised(score, context.visible, rows).astype(np.float64)


def _compared(mind: Mind, context: RecallContext, scores: TextScores) -> _Compared:
    """The best rows and some of all others, with their neighbours in the chat."""
    visible = np.flatnonzero(context.visible)
    best = best_rows(scores.score, CANDIDATES)
    step = max(1, visible.size // _OTHERS)
    others = np.setdiff1d(visible[::step], best)
    if visible.size <= CANDIDATES + _OTHERS:
        best, others = visible, np.zeros(0, np.int64)
    beside = mind.neighbours(context.request.chat)
    core = np.union1d(best, others)
    neighbours = np.concatenate([beside.before[core], beside.after[core]])
    rows = np.union1d(core, neighbours[neighbours >= 0]).astype(np.int64)
    weight = np.zeros(rows.size)
    weight[np.searchsorted(rows, best)] = 1.0
    if others.size:
        remaining = visible.size - best.size
        weight[np.searchsorted(rows, others)] = remaining / others.size
    return _Compared(
        rows,
        np.searchsorted(rows, core),
        Sample(
            before=_positions(rows, beside.before[rows]),
            after=_positions(rows, beside.after[rows]),
            weight=weight,
        ),
    )


def _positions(rows: Int64s, wanted: NDArray[np.int32]) -> Int64s:
    """Where each wanted row stands in `rows`, which ascend; -1 for none."""
    place = np.minimum(np.searchsorted(rows, wanted), rows.size - 1)
    return np.where((wanted >= 0) & (rows[place] == wanted), place, -1)


def _or_base(late: Float64s, base: Float64s, compared: _Compared) -> Float64s:
    """The late scores; those of vectors and words for memories whose token states are not made yet."""
    return np.where(np.isnan(late), base[compared.rows], late)
