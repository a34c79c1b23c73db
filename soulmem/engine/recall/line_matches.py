"""How far what a line says is found in memories: by its tokens' states, else by its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.vectors.world_background import Usual
from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.kernels.max_similarity import WINDOW, max_similarity
from soulmem.language import base_forms, general_rarity
from soulmem.language.passages import passages
from soulmem.language.times import phrases
from soulmem.language.tokens import Tokeniser
from soulmem.language.world_lines import LANGUAGES, world_language, world_scenes
from soulmem.ports.embedder import TokenStates
from soulmem.retrieval.rarity import rarity

# Memories from which on a soul tells by itself which words are rare; with so many it counts half.
_YOUNG = 100
_FEWEST = 50  # texts of a soul, from which on it tells which words are rare
_GENERAL = 0.8  # of the rarity in the world, as rarity in a soul
_LONG = 200  # tokens; a shorter memory has no more passages than are judged together
_SAMPLE = 48  # texts that show the languages of a soul
_SHARED = 0.2  # least share of a language among a soul's texts
_LEAST_ROOM = 0.05  # between a usual cosine and 1


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """The matches of q tokens of a query with m memories; NaN for a memory without token states.

    best     float32[q, m]  cosine of each token of the query with its best token of the best passages of
                            each memory
    covered  float32[m]     the other way round: mean over a memory's tokens, weighted by their idf, of the
                            cosine with their best token of the query
    idf      float32[q]     inverse document frequency of the query's tokens in this soul, .3 to 9
    length   int64[m]       tokens of each memory
    """

    best: Float32s
    covered: Float32s
    idf: Float32s
    length: NDArray[np.int64]


@compute_only
def passage_matches(
    mind: Mind, chat: ChatId | None, states: TokenStates, row: int
) -> tuple[Float32s, Float32s]:
    """The cosine of each token of a query with its best token of each passage of a memory, float32[q, passages],
    and the inverse document frequency of each token, float32[q]. No passages without token states.
    """
    table = mind.vector_queue.tokens
    count = len(states.pieces)
    if table is None or states.states.shape[1] != table.file.width:
        return np.zeros((count, 0), np.float32), np.ones(count, np.float32)
    rows = np.array([row])
    texts = table.read(rows, mind.neighbours(chat).pair_in[rows].astype(np.int64))
    matches = max_similarity(states.states, texts, table.idf(texts.pieces))
    return matches.best, table.idf(states.pieces)


@compute_only
def token_matches(
    mind: Mind, chat: ChatId | None, states: TokenStates, rows: NDArray[np.int64]
) -> TokenMatches:
    """Match the tokens of a query with the memories at these rows, as `chat` tells them.

    rows  int64[m]  rows of memories and facts of the mind
    """
    table = mind.vector_queue.tokens
    count = len(states.pieces)
    if table is None or states.states.shape[1] != table.file.width:
        nothing = np.full((count + 1, rows.size), np.nan, np.float32)
        return TokenMatches(
            nothing[:-1],
            nothing[-1],
            np.ones(count, np.float32),
            np.zeros(rows.size, np.int64),
        )
    texts = table.read(rows, mind.neighbours(chat).pair_in[rows].astype(np.int64))
    matches = max_similarity(states.states, texts, table.idf(texts.pieces))
    idf = table.idf(states.pieces)
    return TokenMatches(matches.of_best_windows(idf), matches.covered, idf, np.diff(texts.starts))


@dataclass(frozen=True, slots=True)
class LineMatches:
    """How far the u units of a line are found in m memories: pieces of a model's vocabulary, or words.

    weight  float32[u]     rarity in the soul * rarity in plain chat lines
    own     float32[u, m]  0..1, found in the memory, beyond what plain lines match as well
    wide    float32[u, m]  the same of the memory or the one before it
    count   units of the line, repeated ones included
    """

    weight: Float32s
    own: Float32s
    wide: Float32s
    count: int

    @property
    def known(self) -> float:
        """0..1, the share of the line's special words that any of the memories has."""
        total = float(self.weight.sum())
        if not total or not self.wide.shape[1]:
            return 0.0
        return float(self.weight @ self.wide.max(axis=1)) / total


@compute_only
def matches_by_tokens(
    mind: Mind, chat: ChatId | None, states: TokenStates, usual: Usual, rows: Int64s
) -> LineMatches | None:
    """The matches of a line with the memories at these rows; None where one of the first five has no states."""
    before = mind.neighbours(chat).before[rows].astype(np.int64)
    every = np.unique(np.concatenate([rows, before[before >= 0]]))
    found = token_matches(mind, chat, states, every)
    own = found.best[:, np.searchsorted(every, rows)]
    if not states.pieces.size or np.isnan(own[:, :5]).any():
        return None
    lent = found.best[:, np.searchsorted(every, np.maximum(before, every[0]))]
    excess = _excess(own, usual)
    beside = np.where(before >= 0, _excess(lent, usual), 0.0)
    distinct, place = np.unique(states.pieces, return_inverse=True)
    return LineMatches(
        _highest(_weights(mind, found.idf, usual), place, distinct.size),
        _highest(excess, place, distinct.size),
        _highest(np.maximum(excess, beside), place, distinct.size),
        int(states.pieces.size),
    )


@compute_only
def passage_fit_by_tokens(
    mind: Mind, chat: ChatId | None, states: TokenStates, usual: Usual, row: int
) -> Float32s | None:
    """How far each passage of a memory says what a line says, float32[passages], at least 0; None without
    token states.
    """
    best, idf = passage_matches(mind, chat, states, row)
    if not best.size:
        return None
    distinct, place = np.unique(states.pieces, return_inverse=True)
    weights = _highest(_weights(mind, idf, usual), place, distinct.size)
    excess = _highest(_excess(best, usual), place, distinct.size)
    return np.asarray(weights @ excess, np.float32)


def _excess(match: Float32s, usual: Usual) -> Float32s:
    """How far matches of each token exceed what is usual, 0..1; 0 for NaN."""
    room = np.maximum(1.0 - usual.match, _LEAST_ROOM)[:, None]
    known = np.nan_to_num(match, nan=-1.0)
    excess = (known - usual.match[:, None]) / room
    return np.asarray(np.clip(excess, 0.0, 1.0), np.float32)


def _weights(mind: Mind, idf: Float32s, usual: Usual) -> Float32s:
    """The rarity of each token in the soul, and in plain lines."""
    trust = mind.size / (mind.size + _YOUNG)
    in_soul = trust * idf + (1.0 - trust) * _GENERAL * usual.rarity
    return np.asarray(in_soul * usual.rarity, np.float32)


@compute_only
def matches_by_words(mind: Mind, chat: ChatId | None, text: str, rows: Int64s) -> LineMatches:
    """The matches of the words of a line with the memories at these rows."""
    said = mind.tokeniser.tokens(text)
    tokens = list(dict.fromkeys(said))
    before = mind.neighbours(chat).before[rows].astype(np.int64)
    world = world_words(world_language(text))
    weights = rarity_in(mind, tokens) * world.weights(tokens)
    every, place = np.unique(np.concatenate([rows, np.maximum(before, 0)]), return_inverse=True)
    found = mind.words.contain(tokens, every)
    _narrow(mind, tokens, weights, every, found)
    own, earlier = np.hsplit(found[:, place], 2)
    wide = own | (earlier & (before >= 0))
    return LineMatches(
        weights,
        own.astype(np.float32),
        wide.astype(np.float32),
        len(said),
    )


@compute_only
def passage_fit_by_words(mind: Mind, text: str, written: Sequence[str]) -> Float32s:
    """How far each passage has the words of a text, float32[passages], at least 0."""
    tokens = list(dict.fromkeys(mind.tokeniser.tokens(text)))
    world = world_words(world_language(text))
    weights = rarity_in(mind, tokens) * world.weights(tokens)
    return np.asarray(weights @ _contain(mind, tokens, written), np.float32)


def _contain(mind: Mind, tokens: Sequence[str], written: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each passage has each token, bool[tokens, passages]."""
    has = np.zeros((len(tokens), len(written)), np.bool_)
    for place, passage in enumerate(written):
        own = set(mind.tokeniser.tokens(passage))
        has[:, place] = [token in own for token in tokens]
    return has


def _narrow(
    mind: Mind,
    tokens: Sequence[str],
    weights: Float32s,
    rows: Int64s,
    found: NDArray[np.bool_],
) -> None:
    """Leave of the tokens that a long memory has those of its best passages in a row.

    found  bool[tokens, rows], written
    """
    several = found.sum(axis=0) > 1
    for place in np.flatnonzero(several & (mind.token_costs(rows) > _LONG)).tolist():
        (text,) = mind.texts_at([int(rows[place])])
        stretches = passages(text)
        if len(stretches) <= WINDOW:
            continue
        has = _contain(mind, tokens, [text[start:end] for start, end in stretches])
        windows: NDArray[np.bool_] = np.asarray(
            sliding_window_view(has, WINDOW, axis=1).any(axis=2)
        )
        found[:, place] = windows[:, int(np.argmax(weights @ windows))]


def no_matches(mind: Mind, text: str, rows: Int64s) -> LineMatches:
    """Those of a line with memories in another script, that no word of it can be in."""
    nothing = np.zeros((0, rows.size), np.float32)
    count = len(mind.tokeniser.tokens(text))
    return LineMatches(np.zeros(0, np.float32), nothing, nothing, count)


def _highest(values: Float32s, place: NDArray[np.intp], count: int) -> Float32s:
    """The highest value of each distinct unit; a unit that the line repeats counts once."""
    out = np.zeros((count, *values.shape[1:]), np.float32)
    np.maximum.at(out, place, values.astype(np.float32))
    return out


@compute_only
def rarity_in(mind: Mind, tokens: Sequence[str]) -> Float32s:
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

    def weights(self, tokens: Sequence[str]) -> Float32s:
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


def prepare_recalls() -> None:
    """Read the English dictionary, the world's lines and the patterns of times: some 0.3 s and 10 MB.

    Else the first recalls would; for a thread that nobody waits for. The Chinese dictionary takes 60 MB and waits
    for a text that needs it.
    """
    base_forms.prepare()
    phrases.prepare()
    for language in LANGUAGES:
        world_words(language)
        general_rarity.frequencies(language)
