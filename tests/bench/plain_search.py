"""What would a plain search over the same texts cost: cosines by numpy, words by bm25s, the best eight?"""

from __future__ import annotations

import time
from collections.abc import Sequence

import bm25s
import numpy as np
from numpy.typing import NDArray

from soulmem.language.tokens import Tokeniser
from soulmem.ports.embedder import Embedder

_BEST = 8  # as many as a recall gives by default


class PlainSearch:
    """Every text is compared with every question; the two scores are standardised and added."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._tokeniser = Tokeniser()
        self._vectors = embedder.embed(texts)
        self._words = bm25s.BM25()
        words = [list(self._tokeniser.tokens(text)) for text in texts]
        self._words.index(words, show_progress=False)

    def seconds(self, question: str) -> float:
        """How long one search takes, without embedding the question."""
        vector = self._embedder.embed([question])[0]
        began = time.perf_counter()
        self.best(question, vector)
        return time.perf_counter() - began

    def best(self, question: str, vector: NDArray[np.float32]) -> NDArray[np.int64]:
        """Indices of the texts that answer best, best first."""
        near = self._vectors @ vector
        alike = self._words.get_scores(list(self._tokeniser.tokens(question)))
        score = (near - near.mean()) / near.std() + (alike - alike.mean()) / max(
            float(alike.std()), 1e-9
        )
        best = np.argpartition(-score, _BEST)[:_BEST]
        return np.asarray(best[np.argsort(-score[best])])
