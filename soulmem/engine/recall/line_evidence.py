"""What a line says of this soul, by words and sentence vectors: for models without token states."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.calls_for_memory import Evidence
from soulmem.engine.recall.context import RecallContext, RecallQuery, TextScores
from soulmem.engine.recall.late_interaction import CANDIDATES
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.language.keywords import terms
from soulmem.language.name_tokens import fold
from soulmem.language.tokens import Tokeniser
from soulmem.language.world_lines import world_language, world_scenes
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.lexical import LexicalIndex
from soulmem.retrieval.rarity import rarity
from soulmem.retrieval.restraint import line_evidence

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

# A word in at most so many texts, or in that share of them, is asked about and not merely used.
_FEW_TEXTS = 8
_FEW = 0.06
_FEWEST = 50  # texts of a soul, from which on it tells which words are rare
_NOTHING = np.zeros(0, np.float32)
_NO_LINES = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class _WorldWords:
    """The words of the plain chat lines of a language, by token.

    frequency  how many lines hold the token
    beside     the lines that hold it, or the line before in their scene does
    """

    lines: int
    frequency: Mapping[str, int]
    beside: Mapping[str, Ints]

    def holds(self, token: str) -> bool:
        """Whether any line holds the token."""
        return token in self.frequency

    def weights(self, tokens: Sequence[str]) -> Floats:
        """The rarity of each token among the lines, float32[tokens]."""
        frequency = [self.frequency.get(token, 0) for token in tokens]
        return rarity(np.asarray(frequency, np.int64), self.lines)

    def shared(self, tokens: Sequence[str], weights: Floats) -> Floats:
        """The sum of the weights of the tokens that each line or the one before it holds, float32[lines]."""
        out = np.zeros(self.lines, np.float32)
        for token, weight in zip(tokens, weights, strict=True):
            out[self.beside.get(token, _NO_LINES)] += weight
        return out


@compute_only
def evidence_of_line(
    mind: Mind,
    context: RecallContext,
    scores: TextScores,
    vectors: Floats | None,
    lines: Mapping[str, Floats],
) -> Evidence:
    """Evidence that the newest text of the query calls for one of the best memories; see `line_evidence`.

    vectors  float32[parts, dim], of the texts of the query; None without a model
    lines    by language float32[lines, dim], of plain chat lines; a language may be missing
    """
    best = best_rows(scores.score, CANDIDATES)
    if not best.size or not context.query.word_parts:
        return Evidence(0.0, by_tokens=False)
    # Plain lines in the language of the memory: a question in another language shares words with neither.
    language = world_language(mind.texts_at(best[:1].tolist())[0])
    tokens = list(dict.fromkeys(mind.tokeniser.tokens(context.query.word_parts[-1][0])))
    world = world_words(language)
    weights = rarity_in(mind, tokens) * world.weights(tokens)
    before = mind.neighbours(context.request.chat).before[best].astype(np.int64)
    vector = vectors[-1] if vectors is not None and len(vectors) else None
    strength = line_evidence(
        weights @ _contained(mind.words, tokens, best, before),
        world.shared(tokens, weights),
        *_cosines(mind, best, vector, lines.get(language)),
    )
    asks = _asks_about(mind, context) or _is_keyword(mind, tokens, world)
    return Evidence(strength, False, names_somebody(mind, context), asks)


@compute_only
def has_rare_word(mind: Mind, context: RecallContext, least: float) -> bool:
    """Whether one word of the newest text alone is evidence enough, or a name: known before texts are compared."""
    if names_somebody(mind, context):
        return True
    text = context.query.word_parts[-1][0] if context.query.word_parts else ""
    said = mind.tokeniser.tokens(text)
    tokens = list(compress(said, mind.words.frequencies(said)))
    if not tokens:
        return False
    weights = rarity_in(mind, tokens)
    weights = weights * world_words(world_language(text)).weights(tokens)
    return line_evidence(weights, _NOTHING, _NOTHING, _NOTHING) >= least


@compute_only
def without_noise(
    mind: Mind, query: RecallQuery, vectors: Floats | None
) -> Floats | None:
    """`vectors`, or None where the query is nothing but words that few texts have, and no plain chat line.

    The sentence vector of a made-up word says nothing; then words alone decide.
    """
    for text, _ in query.word_parts:
        tokens = list(dict.fromkeys(mind.tokeniser.tokens(text)))
        if not _is_keyword(mind, tokens, world_words(world_language(text))):
            return vectors
    return None if query.word_parts else vectors


@compute_only
def names_somebody(mind: Mind, context: RecallContext) -> bool:
    """Whether the newest text names what the soul knows, other than those who talk."""
    if not context.named_concepts:
        return False
    named, _ = context.named_concepts[-1]
    return not all(_speaks(mind, key) for key in named)


def _asks_about(mind: Mind, context: RecallContext) -> bool:
    """Whether the newest text asks about a word that few texts of the soul have, and no plain chat line."""
    if not context.guidance.careful or not context.named_concepts:
        return False
    incidence = mind.terms.incidence
    few = max(_FEW_TEXTS, _FEW * incidence.windows(context.accessible))
    text, _ = context.query.word_parts[-1]
    named, _ = context.named_concepts[-1]
    unusual = []
    for key, _ in mind.terms.keys(terms(text), named):
        number = incidence.number(key)
        if number is not None and _is_unusual(mind, key):
            unusual.append(number)
    counts = incidence.counts_of(np.asarray(unusual, np.int64), context.accessible)
    return bool(np.any((counts > 0) & (counts <= few)))


def _is_keyword(mind: Mind, tokens: Sequence[str], world: _WorldWords) -> bool:
    """Whether a text is nothing but words that few texts of the soul have, and no plain chat line.

    A vector says little of it: a name or a made-up word alone is unlike any sentence.
    """
    few = max(_FEW_TEXTS, _FEW * len(mind.words))
    are_rare = all(0 < count <= few for count in mind.words.frequencies(tokens))
    return bool(tokens) and are_rare and not any(map(world.holds, tokens))


def _is_unusual(mind: Mind, word: str) -> bool:
    """Whether no plain chat line says the word."""
    world = world_words(world_language(word))
    tokens = mind.tokeniser.tokens(word)
    return bool(tokens) and not all(map(world.holds, tokens))


def _speaks(mind: Mind, concept: MemoryId) -> bool:
    """Whether the concept is somebody who talks in the chats: their names are in every other line."""
    return any(
        mind.name_counts.is_speaker(fold(name)) for name in mind.names.names_of(concept)
    )


@compute_only
def rarity_in(mind: Mind, tokens: Sequence[str]) -> Floats:
    """The rarity of each token in the soul's texts, float32[tokens].

    What no text has is as rare as what a single text has: else it would outweigh that in plain lines.
    """
    frequency = np.asarray(mind.words.frequencies(tokens), np.int64)
    return rarity(np.maximum(frequency, 1), max(len(mind.words), _FEWEST))


def _contained(
    index: LexicalIndex, tokens: Sequence[str], rows: Ints, before: Ints
) -> Bools:
    """Which rows, or the rows before them, contain each token, bool[tokens, rows]."""
    found = index.contain(tokens, np.concatenate([rows, np.maximum(before, 0)]))
    own, earlier = np.hsplit(found, 2)
    return np.asarray(own | (earlier & (before >= 0)))


def _cosines(
    mind: Mind, rows: Ints, vector: Floats | None, lines: Floats | None
) -> tuple[Floats, Floats]:
    """Cosines of the query with the texts at these rows and with plain lines; empty where vectors are missing."""
    table = mind.vector_queue.text_vectors
    if vector is None or lines is None or table is None or table.dim != vector.size:
        return _NOTHING, _NOTHING
    cosines = table.rows(rows) @ vector
    return cosines[np.isfinite(cosines)], lines @ vector


@cache
def world_words(language: str) -> _WorldWords:
    """The words of a language's plain lines; made once for all souls, in some 20 ms.

    Names of a soul matter little in lines of anybody.
    """
    tokeniser, row = Tokeniser(), 0
    frequency: Counter[str] = Counter()
    beside: defaultdict[str, set[int]] = defaultdict(set)
    for scene in world_scenes(language):
        for place, line in enumerate(scene, 1):
            tokens = set(tokeniser.tokens(line.partition(":")[2]))
            frequency.update(tokens)
            for token in tokens:
                beside[token].update((row, row + (place < len(scene))))
            row += 1
    places = {token: np.asarray(sorted(rows)) for token, rows in beside.items()}
    return _WorldWords(row, frequency, places)
