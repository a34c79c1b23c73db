"""Which rows score best? Without sorting all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def best_rows(score: NDArray[np.floating], count: int) -> Ints:
    """Indices of the `count` highest finite scores, best first, the first of equals; all if fewer."""
    finite = np.flatnonzero(np.isfinite(score))
    count = min(count, finite.size)
    if count <= 0:
        return np.zeros(0, np.int64)
    among = score[finite]  # partitioning is slow where many are alike, as those that are not finite
    floor = np.partition(among, finite.size - count)[finite.size - count]
    rows = finite[among >= floor]
    best: Ints = rows[np.lexsort((rows, -score[rows]))][:count].astype(np.int64)
    return best
