"""How well does what is said fit each situation: by its words, and by what was said when it was there?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import spoken
from soulmem.engine.mind.mind import Mind
from soulmem.engine.vectors.encoder import Read
from soulmem.retrieval.calibration import rarity, word_fit
from soulmem.retrieval.signature import signature_fit

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_REMEMBERED = 4096  # scenes of a soul whose words are at hand


class Likeness:
    """Fits of lines and situations. Compute thread only."""

    def __init__(self, taught: float) -> None:
        """taught  by how much a situation that scenes tell of must fit better than one in words alone"""
        self._taught = taught
        self._words: WeakKeyDictionary[Mind, dict[str, frozenset[str]]] = (
            WeakKeyDictionary()
        )

    def fit(
        self,
        mind: Mind,
        lines: Sequence[str],
        rows: Ints,
        read: Read | None,
        scenes: Mapping[int, Sequence[int]],
    ) -> Floats:
        """On the scale of `Calibration.fit`, shape (lines, rows). Words decide where there are no vectors."""
        texts = [spoken(mind.at(row)) for row in rows.tolist()]
        told = [
            [spoken(mind.at(one)) for one in scenes.get(row, ())]
            for row in rows.tolist()
        ]
        if read is not None:
            seen = [read.rows(each) for each in told]
            out = read.calibration.fit(read.rows(lines), read.rows(texts), seen)
            out[:, [bool(each) for each in told]] -= self._taught
            out += self._signature(mind, lines, told)
        else:
            out = np.full((len(lines), rows.size), np.nan, np.float32)
        missing = np.flatnonzero(np.isnan(out).any(axis=0))
        if missing.size:
            tokens = mind.tokeniser.tokens
            known = [tokens(texts[i]) for i in missing.tolist()]
            said = [tokens(line) for line in lines]
            out[:, missing] = word_fit(
                said, known, mind.words.frequency, len(mind.words)
            )
        return out

    def _signature(
        self, mind: Mind, lines: Sequence[str], told: Sequence[Sequence[str]]
    ) -> Floats:
        known = self._words.setdefault(mind, {})
        if len(known) > _REMEMBERED:
            known.clear()
        telling, size = mind.tokeniser.telling, len(mind.words)
        for text in (text for each in told for text in each if text not in known):
            known[text] = telling(text)
        scenes = [[known[text] for text in each] for each in told]
        weight = rarity(mind.words.frequency, size)
        return signature_fit([telling(line) for line in lines], scenes, weight, size)
