"""WorldVectors: the vectors of the world background, for a model without token states."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.runtime.worker import Worker
from soulmem.language.world_lines import world_scenes
from soulmem.ports.embedder import Embedder

Floats = NDArray[np.float32]


class WorldVectors:
    """Unit vectors of the plain chat lines of each language that texts are in, by one model.

    They are kept in memory: the packaged encoder makes a line in 1 ms.
    """

    def __init__(self, models: Worker) -> None:
        """`models` is the thread of all embedders."""
        self._models = models
        self.languages: list[str] = []  # that are needed
        self._model = ""
        self._made: dict[str, list[Floats]] = {}  # batches of the model above
        self._ready: dict[str, Floats] = {}

    def of(self, embedder: Embedder) -> Mapping[str, Floats]:
        """By language float32[lines, dim]; without the languages that are not complete."""
        return dict(self._ready) if embedder.model == self._model else {}

    async def make(self, embedder: Embedder, limit: int) -> bool:
        """Embed at most `limit` lines; False if all are embedded. Raises EmbedderError."""
        if embedder.model != self._model:
            self._model = embedder.model
            self._made.clear()
            self._ready.clear()
        for language in list(self.languages):
            if language not in self._ready:
                await self._models.run(self._make_some, embedder, language, limit)
                return True
        return False

    def _make_some(self, embedder: Embedder, language: str, limit: int) -> None:
        """Runs on the thread of the models."""
        lines = list(chain.from_iterable(world_scenes(language)))
        batches = self._made.setdefault(language, [])
        start = sum(map(len, batches))
        wanted = lines[start : start + limit]
        batches.append(embedder.embed(wanted))
        if start + limit >= len(lines):
            self._ready[language] = np.concatenate(self._made.pop(language))
