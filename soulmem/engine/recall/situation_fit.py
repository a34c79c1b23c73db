"""How well lines of a chat fit situations: by meaning, and by the scenes of a situation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.conversation.episodes import spoken
from soulmem.engine.mind.mind import Mind
from soulmem.engine.vectors.encoder import EncodedTexts
from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.retrieval.calibration import rarity, word_fit


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
) -> Float32s:
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


_REMEMBERED = 4096  # scenes of a soul whose words are kept


class SituationFit:
    """Fits of lines and situations. Compute thread only."""

    def __init__(self, scene_margin: float) -> None:
        """scene_margin  by how much a situation with scenes must fit better than one in words alone"""
        self._scene_margin = scene_margin
        self._words: WeakKeyDictionary[Mind, dict[str, frozenset[str]]] = WeakKeyDictionary()

    def fit(
        self,
        mind: Mind,
        lines: Sequence[str],
        rows: Int64s,
        situations: Sequence[str],
        *,
        encoded: EncodedTexts | None,
        scenes: Mapping[int, Sequence[int]],
    ) -> Float32s:
        """On the scale of `Calibration.fit`, shape (lines, rows). Words decide where there are no vectors.

        situations  what the rows say
        """
        scene_texts = [_texts_at(mind, scenes.get(row, ())) for row in rows.tolist()]
        if encoded is not None:
            vectors = [encoded.rows(texts) for texts in scene_texts]
            out = encoded.calibration.fit(encoded.rows(lines), encoded.rows(situations), vectors)
            out[:, [bool(texts) for texts in scene_texts]] -= self._scene_margin
            out += self._signature(mind, lines, scene_texts)
        else:
            out = np.full((len(lines), rows.size), np.nan, np.float32)
        missing = np.flatnonzero(np.isnan(out).any(axis=0))
        if missing.size:
            tokens = mind.tokeniser.tokens
            out[:, missing] = word_fit(
                [tokens(line) for line in lines],
                [tokens(situations[i]) for i in missing.tolist()],
                mind.words.frequency,
                len(mind.words),
            )
        return out

    def _signature(
        self, mind: Mind, lines: Sequence[str], scene_texts: Sequence[Sequence[str]]
    ) -> Float32s:
        """The share of the words that a situation's scenes have in common which each line contains."""
        words_of = self._words.setdefault(mind, {})
        if len(words_of) > _REMEMBERED:
            words_of.clear()
        telling, size = mind.tokeniser.telling, len(mind.words)
        scenes = []
        for texts in scene_texts:
            for text in texts:
                if text not in words_of:
                    words_of[text] = telling(text)
            scenes.append([words_of[text] for text in texts])
        weight = rarity(mind.words.frequency, size)
        return signature_fit([telling(line) for line in lines], scenes, weight, size)


def _texts_at(mind: Mind, rows: Sequence[int]) -> list[str]:
    return [spoken(mind.memory_at(row)) for row in rows]
