"""WorldBackground: how well what a line says is found in plain chat lines of anybody."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from soulmem.domain.ids import Owner, SoulId
from soulmem.kernels.arrays import Float32s
from soulmem.kernels.token_codes import PackedStates, pack, unpacked
from soulmem.language.world_lines import world_scenes
from soulmem.ports.embedder import Embedder, TextInContext, TokenStates
from soulmem.ports.token_store import KEY_BYTES, NO_RECORD, TokenFile, TokenStore
from soulmem.retrieval.rarity import piece_rarity

log = logging.getLogger(__name__)


# Share of the lines that match a token of a query less well than what is usual: the few that say
# the very same are left out. .98 to 1 judge alike.
_USUAL = 0.99
_OWNER = Owner(":world")  # users of SillyTavern have no colon in their names


@dataclass(frozen=True, slots=True)
class Usual:
    """What plain chat lines say of the q tokens of a query.

    match   float32[q]  cosine with the best token of a line that nearly all lines stay below
    rarity  float32[q]  inverse document frequency of the token's piece among the lines, .3 to 9
    """

    match: Float32s
    rarity: Float32s


class WorldBackground:
    """The token states of the world background of one language, by one model. For one thread at a time."""

    def __init__(self, states: PackedStates) -> None:
        # Without compiled code: the first query after a start does not wait for the compiler.
        self._states = unpacked(states)
        self._starts = states.starts[:-1]
        self._lines = len(states)
        line = np.repeat(np.arange(self._lines), np.diff(states.starts))
        seen = np.unique(np.stack([states.pieces, line]), axis=1)[0]
        self._frequency = np.bincount(seen)

    def usual(self, query: TokenStates) -> Usual:
        """How the lines match the tokens of a query."""
        products = query.states @ self._states.T
        best = np.maximum.reduceat(products, self._starts, axis=1)
        place = round(_USUAL * (self._lines - 1))
        match = np.partition(best, place, axis=1)[:, place]
        rarity = piece_rarity(self._frequency, query.pieces, self._lines)
        return Usual(match.astype(np.float32), rarity)


class WorldBackgrounds:
    """Backgrounds by language, read from their token files; missing states are made. Blocks."""

    def __init__(self, store: TokenStore) -> None:
        self._store = store
        self._ready: dict[tuple[str, str], WorldBackground] = {}
        self._files: dict[tuple[str, str], TokenFile] = {}

    def background(self, model: str, language: str) -> WorldBackground | None:
        """The background of a language that is complete."""
        return self._ready.get((model, language))

    def prepare(self, embedder: Embedder, language: str, limit: int) -> bool:
        """Read the states of a language; True when it is complete.

        limit  of missing lines, whose states are made
        Raises EmbedderError and StoreError.
        """
        key = embedder.model, language
        if key in self._ready:
            return True
        contents, names = _named_lines(language)
        file = self._file(embedder, language)
        records = np.asarray([file.record(name) for name in names], np.int64)
        missing = np.flatnonzero(records == NO_RECORD)
        if missing.size:
            places = missing[:limit].tolist()
            lines = [contents[place] for place in places]
            _make(file, embedder, [names[place] for place in places], lines)
            return False
        states = file.read(records)
        if np.diff(states.starts).min() < 1:
            return False  # what is damaged was dropped, and is made again
        self._drop_file(key)
        if any(model != embedder.model for model, _ in self._ready):
            self._ready.clear()
        self._ready[key] = WorldBackground(states)
        log.info("world background %r is ready: %d lines", language, len(names))
        return True

    def close(self) -> None:
        """Close the files that are still open."""
        for key in list(self._files):
            self._drop_file(key)

    def _file(self, embedder: Embedder, language: str) -> TokenFile:
        """The open file of a language. Raises StoreError."""
        key = embedder.model, language
        if key not in self._files:
            soul = SoulId(f"world-{language or 'all'}")
            self._files[key] = self._store.open(_OWNER, soul, embedder.model, embedder.token_width)
        return self._files[key]

    def _drop_file(self, key: tuple[str, str]) -> None:
        self._files.pop(key).close()


@cache
def _named_lines(language: str) -> tuple[list[TextInContext], list[bytes]]:
    """The lines of a language, each in the context of the line before it in its scene, and their keys."""
    contents = []
    for scene in world_scenes(language):
        for place, line in enumerate(scene):
            contents.append(TextInContext(line, scene[place - 1] if place else ""))
    return contents, [_name(content) for content in contents]


def _name(content: TextInContext) -> bytes:
    digest = hashlib.sha256(f"{content.context}\n\n{content.text}".encode())
    return digest.digest()[:KEY_BYTES]


def _make(
    file: TokenFile,
    embedder: Embedder,
    names: Sequence[bytes],
    lines: Sequence[TextInContext],
) -> None:
    if not lines:
        return
    made = embedder.embed_tokens(lines)
    states, pieces = [line.states for line in made], [line.pieces for line in made]
    packed = pack(states, pieces, file.center)
    file.put(names, packed)
