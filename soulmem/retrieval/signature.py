"""Which words do the scenes of a situation have in common, and how many of them does a line have?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SignatureParams:
    """When words mark a situation, and what they are worth on the scale of `Calibration.fit`."""

    scenes: int = 2  # that must have the word
    rare: float = 0.5  # 0..1, of the weight of a word that stands nowhere
    fit: float = 1.5  # of a line that has all of them; 1 to 2.5 do alike


def signature_fit(
    lines: Sequence[Collection[str]],
    scenes: Sequence[Sequence[Collection[str]]],
    weight: Callable[[str], float],
    texts: int,
    params: SignatureParams | None = None,
) -> Floats:
    """What shared words add to the fit of each line and each situation, shape (lines, situations), >= 0.

    lines, scenes  the words of each line, and of each scene of each situation; a situation may have none
    weight, texts  of a word among so many texts, as `rarity` gives it
    """
    p = params or SignatureParams()
    out = np.zeros((len(lines), len(scenes)), np.float32)
    for column, seen in enumerate(scenes):
        held = Counter(word for words in seen for word in set(words))
        weights = {
            word: weight(word) for word, count in held.items() if count >= p.scenes
        }
        marks = {
            word: found
            for word, found in weights.items()
            if found >= p.rare * log1p(texts)
        }
        whole = sum(marks.values())
        for row, words in enumerate(lines if whole else ()):
            out[row, column] = (
                p.fit
                * sum(found for word, found in marks.items() if word in words)
                / whole
            )
    return out
