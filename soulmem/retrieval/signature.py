"""Word evidence for situations: the rare words that the scenes of a situation share."""

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
    """When a word marks a situation, and what it adds on the scale of `Calibration.fit`."""

    scenes: int = 2  # scenes of the situation that must contain the word
    # 0..1, least weight, as a share of that of a word that occurs nowhere
    rare: float = 0.5
    # added for a line with all marking words; 1 to 2.5 give equal results
    fit: float = 1.5


def signature_fit(
    lines: Sequence[Collection[str]],
    scenes: Sequence[Sequence[Collection[str]]],
    weight: Callable[[str], float],
    texts: int,
    params: SignatureParams | None = None,
) -> Floats:
    """What marking words add to the fit of each line to each situation, float32[lines, situations], >= 0.

    lines, scenes  the words of each line, and of each scene of each situation; a situation may have none
    weight         of a word, as `rarity` gives it for a number of `texts`
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
