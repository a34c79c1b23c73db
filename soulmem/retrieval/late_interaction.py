"""Late interaction: how well memories fit a query, by the best match of each of its tokens.

Every token of the query seeks its best token in a memory (MaxSim, ColBERT, https://arxiv.org/abs/2004.12832);
tokens that few memories of the soul have count more. Where the query is longer than the memories, each token
of a memory seeks its best token in the query instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Positions = NDArray[np.int64]


# How token matches make a score. Flat: beside .3 to .7; around 2 to 4.
_BESIDE = 0.5  # weight of the match that a neighbour in the chat may lend
# How many times as long as a memory the query is where its side counts alone, and where the memory's does.
_EVEN = 1.0
_AROUND = 3.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Memories that are compared, among all of which they are some.

    before, after  int64[m]    position of the neighbour in the chat among the compared ones, -1 for none
    weight         float64[m]  how many memories each stands for, where means are taken; 0 for a mere neighbour
    """

    before: Positions
    after: Positions
    weight: Doubles


@dataclass(frozen=True, slots=True)
class LateScores:
    """Standardised scores of the compared memories, float64[m]; NaN for one without token states."""

    score: Doubles
    alone: Doubles  # without neighbours


def late_scores(
    best: Floats,
    covered: Floats,
    idf: Floats,
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


def wide_matches(best: Floats, before: Positions) -> Floats:
    """The best match of each token in a memory or in the one before it; float32[q, m]."""
    lent = best[:, before]
    lent[:, before < 0] = -1.0
    return np.where(lent > best, lent, best)


def standardise(values: NDArray[np.floating], weight: Doubles) -> Doubles:
    """(value - mean) / deviation; both by `weight`, over the values that are numbers. 0 where all are alike."""
    out = np.asarray(values, np.float64)
    counted = np.where(np.isnan(out), 0.0, weight)
    total = max(float(counted.sum()), 1e-9)
    finite = np.nan_to_num(out)
    mean = float((counted * finite).sum()) / total
    variance = float((counted * (finite - mean) ** 2).sum()) / total
    scale = 1.0 / np.sqrt(variance) if variance > 1e-12 else 0.0
    return np.asarray((out - mean) * scale, np.float64)


def _turned(tokens: int, length: NDArray[np.int64], weight: Doubles) -> float:
    """How far the side of the memory counts, 0..1."""
    counted = weight * (length > 0)
    if not counted.any():
        return 0.0
    mean = float((counted * length).sum() / counted.sum())
    return float(np.clip((tokens / mean - _EVEN) / (_AROUND - _EVEN), 0.0, 1.0))
