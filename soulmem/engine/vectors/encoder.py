"""How a moment is read for what it sets off: by the packaged encoder, whatever model recall uses."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import SoulMemError
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.model_sources import ModelSource
from soulmem.ports.embedder import Embedder
from soulmem.retrieval.calibration import TEXTS, Calibration

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]

_BATCH = 64  # texts at once, some 0.1 s: a question waits for one batch at most
_REMEMBERED = 4096  # texts whose vector is at hand, 8 MB


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """Unit vectors by text, and how their cosines read."""

    vectors: Mapping[str, Vector]
    calibration: Calibration

    def rows(self, texts: Iterable[str]) -> Vector:
        """Vectors of the texts, shape (texts, dim); NaN for one that was not read."""
        unknown = np.full(self.calibration.lines.shape[1], np.nan, np.float32)
        rows = [self.vectors.get(text, unknown) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, unknown.size), np.float32)


class SituationEncoder:
    """Texts to vectors in a millisecond each.

    For telling situations the packaged encoder, trained on talk and its answers, beats multilingual-e5-small:
    of English paraphrases that share no word it finds 50 in 100 instead of 35 at three false alarms in a
    hundred lines, in Chinese as many (15). It takes a tenth of the time, and its languages share one space.
    """

    def __init__(self, source: ModelSource | None) -> None:
        self._source = source
        self._worker = Worker("soulmem-read")
        self._embedder: Embedder | None = None
        self._calibration: Calibration | None = None
        self._known: OrderedDict[str, Vector] = OrderedDict()

    def use_model(self, embedder: Embedder) -> None:
        """Use this encoder, which has been loaded already."""
        self._embedder = embedder

    def stop(self) -> None:
        """Read nothing more."""
        self._worker.stop()

    async def encode(self, texts: Iterable[str]) -> EncodedTexts | None:
        """Vectors of the texts; None when there is no encoder.

        The first time it is loaded, in a second or so. Who cannot wait leaves: the work goes on.
        """
        wanted = list(dict.fromkeys(texts))
        missing = [text for text in wanted if text not in self._known]
        found = {text: self._known[text] for text in wanted if text in self._known}
        try:
            calibration = self._calibration or await self._worker.run(self._calibrate)
            for start in range(0, len(missing), _BATCH):
                fresh = await self._worker.run(
                    self._embed, missing[start : start + _BATCH]
                )
                self._known.update(fresh)
                found |= fresh
        except SoulMemError as error:
            log.warning("what sets habits off goes by words alone: %s", error.message)
            return None
        for text in found:
            self._known.move_to_end(text)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return EncodedTexts(found, calibration) if calibration is not None else None

    def _calibrate(self) -> Calibration | None:
        if self._calibration is None and self._source is not None:
            self._embedder = self._embedder or self._source.load()
            self._calibration = Calibration.of(self._embedder.embed(TEXTS))
        return self._calibration

    def _embed(self, texts: list[str]) -> dict[str, Vector]:
        if self._embedder is None:
            return {}
        return dict(zip(texts, self._embedder.embed(texts), strict=True))
