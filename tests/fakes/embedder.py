"""An embedder without a model: a text is the bag of its words, each hashed to a dimension."""

from __future__ import annotations

import hashlib
import re
import threading
import time
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.vectors.embedder import ModelSource
from soulmem.language.passages import passages
from soulmem.ports.embedder import EmbedderError, TextInContext, TokenStates

_WORD = re.compile(r"[a-z0-9]+|[^\W\d_a-z]")


@cache
def _state(name: str, word: str, width: int) -> NDArray[np.float32]:
    """The state of a word by itself. Kept: each engine of each test reads the same thousand lines."""
    seed = zlib.crc32(f"{name}:{word}".encode())
    state = np.random.default_rng(seed).normal(size=width)
    return np.asarray(state / np.linalg.norm(state), np.float32)


class FakeEmbedder:
    """Deterministic unit vectors; texts that share words are alike, others nearly always at right angles.

    The state of a token is the hash of its word, turned a little towards the context.

    `delay` seconds pass before each answer, `fails` makes every call raise, `asked` collects the texts.
    """

    def __init__(self, name: str = "fake", dim: int = 512) -> None:
        self.name = name
        self.model = f"{name}/1"
        self.dim = dim
        self.delay = 0.0
        self.fails = False
        self.begun: list[str] = []  # texts of calls that may still wait
        self.asked: list[str] = []
        self.answers = threading.Event()  # while clear, every call waits
        self.answers.set()

    prompt = ""
    lacks_prompt = False
    token_width = 32

    def embed_tokens(self, texts: Sequence[TextInContext]) -> list[TokenStates]:
        pooled = self.embed([text.whole for text in texts])
        return [self._tokens(text, vector) for text, vector in zip(texts, pooled, strict=True)]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        self.begun.extend(texts)
        self.answers.wait(5)
        if self.delay:
            time.sleep(self.delay)
        if self.fails:
            raise EmbedderError(f"{self.name} has failed")
        self.asked.extend(texts)
        return np.stack([self._vector(text) for text in texts])

    def source(self, *, at_hand: bool = True) -> ModelSource:
        """Where the engine gets it."""
        return ModelSource(self.name, lambda: at_hand, lambda: self)

    def _tokens(self, text: TextInContext, pooled: NDArray[np.float32]) -> TokenStates:
        stretches = passages(text.text)
        said = [_WORD.findall(text.text[a:b].lower()) for a, b in stretches]
        own = [*chain(*said)]
        before = _WORD.findall(text.context.lower())
        words = own if len(own) >= 2 else ["<s>", "</s>", *before, *own][-2:]
        states = np.stack([_state(self.name, word, self.token_width) for word in words])
        for word in before:
            states += 0.1 * _state(self.name, word, self.token_width) / len(before)
        states /= np.linalg.norm(states, axis=1, keepdims=True)
        pieces = [zlib.crc32(word.encode()) % 5000 for word in words]
        begins = np.zeros(len(words), np.bool_)
        begins[np.cumsum([0, *map(len, said)])[:-1] if len(own) >= 2 else 0] = True
        return TokenStates(pooled, states, np.array(pieces, np.int32), begins)

    def _vector(self, text: str) -> NDArray[np.float32]:
        out = np.zeros(self.dim, np.float32)
        for word in _WORD.findall(text.lower()) or [text]:
            seed = hashlib.sha256(f"{self.name}:{word}".encode()).digest()[:8]
            out[int.from_bytes(seed, "big") % self.dim] += 1
        return np.asarray(out / np.linalg.norm(out), np.float32)
