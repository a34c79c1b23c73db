"""Inverse document frequency of words and of pieces of a model's vocabulary, bounded on both sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s

_LEAST, _MOST = 0.3, 9.0


def rarity(frequency: NDArray[np.integer], texts: int) -> Float32s:
    """log((texts + 1) / (frequency + .5)) within .3 to 9, of words that so many of `texts` texts have."""
    idf = np.log((texts + 1) / (frequency + 0.5))
    return np.clip(idf, _LEAST, _MOST).astype(np.float32)


def piece_rarity(counts: NDArray[np.integer], pieces: NDArray[np.int32], texts: int) -> Float32s:
    """The rarity of each piece; `counts` has by piece how many texts have it, and may end before the last."""
    frequency = np.zeros(pieces.size, np.int64)
    inside = pieces < counts.size
    frequency[inside] = counts[pieces[inside]]
    return rarity(frequency, texts)
