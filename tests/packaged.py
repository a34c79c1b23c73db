"""The packaged encoder, loaded once by all tests of a process: each copy takes 130 MB and a second."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters import packaged_encoder
from soulmem.ports.embedder import Embedder


class Remembering:
    """An encoder that reads each text once: many tests tell the same story."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self._rows: dict[str, NDArray[np.float32]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the encoder does."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        self._rows.update(zip(new, self._encoder.embed(new), strict=True))
        rows = [self._rows[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._encoder.dim), np.float32)


@cache
def the_encoder() -> Embedder:
    """The encoder."""
    return cast(Embedder, Remembering(packaged_encoder.load()))
