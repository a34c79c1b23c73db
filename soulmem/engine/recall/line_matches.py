"""How far what a line says is found in memories: by its tokens' states, else by its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.token_scores import token_matches
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.vectors.world_background import Usual
from soulmem.language.tokens import Tokeniser
from soulmem.language.world_lines import world_language, world_scenes
from soulmem.ports.embedder import TokenStates
from soulmem.retrieval.rarity import rarity

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

# Memories from which on a soul tells by itself which words are rare; with so many it counts half.
_YOUNG = 100
_FEWEST = 50  # texts of a soul, from which on it tells which words are rare
_GENERAL = 0.8  # of the rarity in the world, as rarity in a soul
_SAMPLE = 48  # texts that show the languages of a soul
_SHARED = 0.2  # least share of a language among a soul's texts
_LEAST_ROOM = 0.05  # between a usual cosine and 1


@dataclass(frozen=True, slots=True)
class LineMatches:
    """How far the u units of a line are found in m memories: pieces of a model's vocabulary, or words.

    weight  float32[u]     rarity in the soul * rarity in plain chat lines
    own     float32[u, m]  0..1, found in the memory, beyond what plain lines match as well
    wide    float32[u, m]  the same of the memory or the one before it
    count   units of the line, repeated ones included
    """

    weight: Floats
    own: Floats
    wide: Floats
    count: int

    @property
    def known(self) -> float:
        """0..1, the share of what the line says specially that any of the memories says."""
        total = float(self.weight.sum())
        if not total or not self.wide.shape[1]:
            return 0.0
        return float(self.weight @ self.wide.max(axis=1)) / total


@compute_only
def matches_by_tokens(
    mind: Mind, chat: ChatId | None, states: TokenStates, usual: Usual, rows: Ints
) -> LineMatches | None:
    """The matches of a line with the memories at these rows; None where one of the first five has no states."""
    before = mind.neighbours(chat).before[rows].astype(np.int64)
    every = np.unique(np.concatenate([rows, before[before >= 0]]))
    found = token_matches(mind, chat, states, every)
    own = found.best[:, np.searchsorted(every, rows)]
    if not states.pieces.size or np.isnan(own[:, :5]).any():
        return None
    lent = found.best[:, np.searchsorted(every, np.maximum(before, every[0]))]
    lent = np.where(before >= 0, np.nan_to_num(lent, nan=-1.0), -1.0)
    own = np.nan_to_num(own, nan=-1.0)
    room = np.maximum(1.0 - usual.match, _LEAST_ROOM)[:, None]
    excess = np.clip((own - usual.match[:, None]) / room, 0.0, 1.0)
    beside = np.clip((lent - usual.match[:, None]) / room, 0.0, 1.0)
    trust = mind.size / (mind.size + _YOUNG)
    in_soul = trust * found.idf + (1.0 - trust) * _GENERAL * usual.rarity
    distinct, place = np.unique(states.pieces, return_inverse=True)
    return LineMatches(
        _highest(in_soul * usual.rarity, place, distinct.size),
        _highest(excess, place, distinct.size),
        _highest(np.maximum(excess, beside), place, distinct.size),
        int(states.pieces.size),
    )


@compute_only
def matches_by_words(
    mind: Mind, chat: ChatId | None, text: str, rows: Ints
) -> LineMatches:
    """The matches of the words of a line with the memories at these rows."""
    said = mind.tokeniser.tokens(text)
    tokens = list(dict.fromkeys(said))
    before = mind.neighbours(chat).before[rows].astype(np.int64)
    found = mind.words.contain(tokens, np.concatenate([rows, np.maximum(before, 0)]))
    own, earlier = np.hsplit(found, 2)
    wide = own | (earlier & (before >= 0))
    world = world_words(world_language(text))
    return LineMatches(
        rarity_in(mind, tokens) * world.weights(tokens),
        own.astype(np.float32),
        wide.astype(np.float32),
        len(said),
    )


def no_matches(mind: Mind, text: str, rows: Ints) -> LineMatches:
    """Those of a line with memories in another script, that no word of it can be in."""
    nothing = np.zeros((0, rows.size), np.float32)
    count = len(mind.tokeniser.tokens(text))
    return LineMatches(np.zeros(0, np.float32), nothing, nothing, count)


def _highest(values: Floats, place: NDArray[np.intp], count: int) -> Floats:
    """The highest value of each distinct unit; a unit that the line repeats counts once."""
    out = np.zeros((count, *values.shape[1:]), np.float32)
    np.maximum.at(out, place, values.astype(np.float32))
    return out


@compute_only
def rarity_in(mind: Mind, tokens: Sequence[str]) -> Floats:
    """The rarity of each token in the soul's texts, float32[tokens].

    What no text has is as rare as what a single text has: else it would outweigh that in plain lines.
    """
    frequency = np.asarray(mind.words.frequencies(tokens), np.int64)
    return rarity(np.maximum(frequency, 1), max(len(mind.words), _FEWEST))


@dataclass(frozen=True, slots=True)
class WorldWords:
    """The words of the plain chat lines of a language: in how many of the lines each token is."""

    lines: int
    frequency: Mapping[str, int]

    def holds(self, token: str) -> bool:
        """Whether any line holds the token."""
        return token in self.frequency

    def weights(self, tokens: Sequence[str]) -> Floats:
        """The rarity of each token among the lines, float32[tokens]."""
        frequency = [self.frequency.get(token, 0) for token in tokens]
        return rarity(np.asarray(frequency, np.int64), self.lines)


@cache
def world_words(language: str) -> WorldWords:
    """The words of a language's plain lines; made once for all souls, in some 20 ms.

    Names of a soul matter little in lines of anybody.
    """
    tokeniser, frequency, lines = Tokeniser(), Counter[str](), 0
    for scene in world_scenes(language):
        for line in scene:
            frequency.update(set(tokeniser.tokens(line.partition(":")[2])))
            lines += 1
    return WorldWords(lines, frequency)


@compute_only
def language_shares(mind: Mind) -> dict[str, float]:
    """The share of each language, see `world_language`, among some of the soul's texts."""
    rows = np.flatnonzero(mind.columns.searched[: mind.size])
    rows = rows[:: max(1, rows.size // _SAMPLE)]
    found = Counter(map(world_language, mind.texts_at(rows.tolist())))
    return {name: count / found.total() for name, count in found.items()}


def background_language(text: str, shares: Mapping[str, float]) -> str:
    """The language of the plain lines that a line is compared with: its own, where memories have it.

    A line in another language than all memories matches each of them less than lines of its own language.
    """
    own = world_language(text)
    if not shares or shares.get(own, 0.0) >= _SHARED:
        return own
    return max(shares, key=lambda name: shares[name])
