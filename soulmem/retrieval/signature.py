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
    least_weight = p.rare * log1p(texts)
    for column, scene_words in enumerate(scenes):
        marks = _marking_words(scene_words, weight, p.scenes, least_weight)
        whole = sum(marks.values())
        if not whole:
            continue
        for row, words in enumerate(lines):
            shared = sum(marks[word] for word in marks if word in words)
            out[row, column] = p.fit * shared / whole
    return out


def _marking_words(
    scenes: Sequence[Collection[str]],
    weight: Callable[[str], float],
    least_scenes: int,
    least_weight: float,
) -> dict[str, float]:
    """Weights of the rare words that at least `least_scenes` of the scenes contain."""
    counts: Counter[str] = Counter()
    for words in scenes:
        counts.update(set(words))
    marks: dict[str, float] = {}
    for word, count in counts.items():
        if count >= least_scenes and weight(word) >= least_weight:
            marks[word] = weight(word)
    return marks
