"""The rows of the highest scores, without sorting all of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Int64s

_STEP = 64  # every 64th score is sampled to estimate the threshold
# deviations by which the estimate is lowered, so that it rarely excludes one of the best
_SPARE = 4.0


def best_rows(score: NDArray[np.floating], count: int) -> Int64s:
    """Indices of the `count` highest finite scores, best first, the first of equals; all if fewer."""
    rows = _above_guess(score, count)
    if rows.size < count:
        rows = np.flatnonzero(np.isfinite(score))
    count = min(count, rows.size)
    if count <= 0:
        return np.zeros(0, np.int64)
    among = score[rows]
    floor = np.partition(among, rows.size - count)[rows.size - count]
    rows = rows[among >= floor]
    best: Int64s = rows[np.lexsort((rows, -score[rows]))][:count].astype(np.int64)
    return best


def _above_guess(score: NDArray[np.floating], count: int) -> Int64s:
    """Rows of finite scores above a threshold that a sample estimates; empty where the sample is too small."""
    sample = score[::_STEP]
    place = count / _STEP
    place = math.ceil(place + _SPARE * math.sqrt(place + 1))
    if place > sample.size // 2:
        return np.zeros(0, np.int64)
    guess = np.partition(np.where(np.isfinite(sample), sample, -np.inf), -place)[-place]
    if guess == -np.inf:
        return np.zeros(0, np.int64)
    rows: Int64s = np.flatnonzero(score >= guess)
    return np.asarray(rows[np.isfinite(score[rows])], np.int64)
