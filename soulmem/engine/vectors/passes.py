"""Passes: runs the embedding model over texts, each once, and keeps what it lately gave."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.runtime.worker import Worker
from soulmem.kernels.token_codes import Center, mean_state
from soulmem.language.world_lines import world_scenes
from soulmem.ports.embedder import Embedder, TextInContext, TokenStates

Vector = NDArray[np.float32]

# Texts with a cached vector: the last messages are queried again every turn.
_REMEMBERED = 4096
# Texts with cached token states, some 60 kB each.
_REMEMBERED_STATES = 64
# Lines of the world background that give the center of a model: more make the codes of other texts no better.
_CENTER_LINES = 16


class Passes:
    """The latest results of the embedder in use; `models` is the thread of all embedders."""

    def __init__(self, models: Worker) -> None:
        self._models = models
        self._embedder: Embedder | None = None
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._states: OrderedDict[str, TokenStates] = OrderedDict()

    def use(self, embedder: Embedder) -> None:
        """Remember the results of this embedder alone from now on."""
        self._embedder = embedder
        self._vectors.clear()
        self._states.clear()

    async def vectors(
        self, embedder: Embedder, texts: Sequence[str], *, with_tokens: bool
    ) -> Vector:
        """Unit vectors of these texts, shape (len(texts), dim). Raises EmbedderError.

        with_tokens  the same pass also gives the token states, for `states`
        """
        cached = self._vectors if embedder is self._embedder else {}
        vectors = {t: cached[t] for t in texts if t in cached}
        missing = [t for t in dict.fromkeys(texts) if t not in vectors]
        if missing and with_tokens:
            read = await self.states(embedder, missing)
            vectors |= {t: states.pooled for t, states in zip(missing, read, strict=True)}
        elif missing:
            made = await self._models.run(embedder.embed, missing)
            fresh = dict(zip(missing, made, strict=True))
            self._remember(embedder, fresh, {})
            vectors |= fresh
        return np.stack([vectors[t] for t in texts])

    async def states(self, embedder: Embedder, texts: Sequence[str]) -> list[TokenStates]:
        """Vector and token states of each of these texts, which stand alone. Raises EmbedderError."""
        cached = self._states if embedder is self._embedder else {}
        states = {t: cached[t] for t in texts if t in cached}
        missing = [t for t in dict.fromkeys(texts) if t not in states]
        if missing:
            contents = [TextInContext(text) for text in missing]
            made = await self._models.run(embedder.embed_tokens, contents)
            fresh = dict(zip(missing, made, strict=True))
            vectors = {text: each.pooled for text, each in fresh.items()}
            self._remember(embedder, vectors, fresh)
            states |= fresh
        return [states[t] for t in texts]

    async def center(self, embedder: Embedder) -> Center:
        """About the mean of the model's token states. Raises EmbedderError.

        It is that of plain lines in several languages: it stays in a file, and must say nothing of what
        is erased there.
        """
        made: list[TokenStates] = []
        # One after the other, so that a query does not wait for all
        for line in await self._models.run(_center_lines):
            content = [TextInContext(line)]
            made += await self._models.run(embedder.embed_tokens, content)
        return mean_state([each.states for each in made])

    async def in_context(
        self,
        embedder: Embedder,
        contents: Sequence[TextInContext],
        needed: Sequence[bool],
        *,
        few: bool,
    ) -> list[tuple[Vector, TokenStates | None]]:
        """The vector of each whole, and the states of its text where `needed` says so. Raises EmbedderError.

        few  these are all the texts that are new, so a query with them will soon come
        """
        results: dict[TextInContext, tuple[Vector, TokenStates | None]] = {}
        missing: list[TextInContext] = []
        for content, is_needed in zip(contents, needed, strict=True):
            result = self._result(embedder, content, is_needed)
            if result is not None:
                results[content] = result
            elif content not in missing:
                missing.append(content)
        if missing:
            made = await self._models.run(embedder.embed_tokens, missing)
            fresh = dict(zip(missing, made, strict=True))
            self._remember(
                embedder,
                {content.whole: states.pooled for content, states in fresh.items()},
                {c.text: s for c, s in fresh.items() if few and not c.context},
            )
            results |= {c: (states.pooled, states) for c, states in fresh.items()}
        return [results[content] for content in contents]

    def _result(
        self, embedder: Embedder, content: TextInContext, is_needed: bool
    ) -> tuple[Vector, TokenStates | None] | None:
        """The cached pass over a text; None if it is not cached."""
        if embedder is not self._embedder:
            return None
        if not content.context and (states := self._states.get(content.text)):
            return states.pooled, states
        vector = self._vectors.get(content.whole)
        return None if vector is None or is_needed else (vector, None)

    def _remember(
        self,
        embedder: Embedder,
        vectors: Mapping[str, Vector],
        states: Mapping[str, TokenStates],
    ) -> None:
        if embedder is not self._embedder:  # another took over meanwhile
            return
        self._vectors.update(vectors)
        self._states.update(states)
        for cache, most in (
            (self._vectors, _REMEMBERED),
            (self._states, _REMEMBERED_STATES),
        ):
            for key in list(islice(cache, max(0, len(cache) - most))):
                del cache[key]


def _center_lines() -> list[str]:
    """Lines of the world background, from all over it."""
    lines = list(chain.from_iterable(world_scenes("")))
    return lines[:: len(lines) // _CENTER_LINES][:_CENTER_LINES]
