"""How well lines of a chat fit situations: by meaning, and by the scenes in which a situation occurred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import spoken
from soulmem.engine.mind.mind import Mind
from soulmem.engine.vectors.encoder import EncodedTexts
from soulmem.retrieval.calibration import rarity, word_fit
from soulmem.retrieval.signature import signature_fit

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_REMEMBERED = 4096  # scenes of a soul whose words are kept


class SituationFit:
    """Fits of lines and situations. Compute thread only."""

    def __init__(self, scene_margin: float) -> None:
        """scene_margin  by how much a situation with scenes must fit better than one in words alone"""
        self._scene_margin = scene_margin
        self._words: WeakKeyDictionary[Mind, dict[str, frozenset[str]]] = (
            WeakKeyDictionary()
        )

    def fit(
        self,
        mind: Mind,
        lines: Sequence[str],
        rows: Ints,
        situations: Sequence[str],
        *,
        encoded: EncodedTexts | None,
        scenes: Mapping[int, Sequence[int]],
    ) -> Floats:
        """On the scale of `Calibration.fit`, shape (lines, rows). Words decide where there are no vectors.

        situations  what the rows say
        """
        scene_texts = [_texts_at(mind, scenes.get(row, ())) for row in rows.tolist()]
        if encoded is not None:
            vectors = [encoded.rows(texts) for texts in scene_texts]
            out = encoded.calibration.fit(
                encoded.rows(lines), encoded.rows(situations), vectors
            )
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
    ) -> Floats:
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
