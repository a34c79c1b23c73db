"""Digest of a period without a language model: which sentences are quoted.

A walk goes over the graph of sentences that share rare words, as in LexRank (https://doi.org/10.1613/jair.1523).
It starts at what matters by itself: what was felt or promised, and what is new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.csr import build_csr
from soulmem.kernels.walk import Walker
from soulmem.kernels.walk_result import WalkParams

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that may be quoted.

    text        as it would be quoted, with the name of who says it
    importance  0..1, of what it says
    tokens      its words as the lexical index of the soul has them
    """

    text: str
    importance: float
    tokens: frozenset[str]


@dataclass(frozen=True, slots=True)
class DigestParams:
    """How sentences are chosen."""

    lines: int = 6  # quoted at most
    characters: int = 1100  # of all quotations, leaving room for a heading
    compared: int = 400  # sentences of a walk at most, those of highest worth
    new: float = 0.5  # weight of rare words beside importance
    asked: float = 0.5  # weight of words that the digest is asked for
    # A word is shared by so few sentences at most, as a share of all: more say nothing of any of them.
    rare: float = 0.1
    least: float = 0.3  # score of a quotation as a share of the best one's
    same: float = 0.6  # share of rare words at which two sentences tell one thing


def choose_sentences(
    sentences: Sequence[Sentence],
    rarity: Mapping[str, float],
    params: DigestParams | None = None,
    asked: frozenset[str] = frozenset(),
) -> list[int]:
    """Indices of the sentences to quote, ascending.

    rarity  0..1 of each token in all texts of the soul; tokens that are left out say nothing
    asked   tokens that the digest is asked for
    """
    p = params or DigestParams()
    worth = np.asarray([_worth(each, rarity, p, asked) for each in sentences])
    among = np.sort(np.argsort(-worth, kind="stable")[: p.compared])
    compared = [sentences[index] for index in among]
    score = _walked(compared, rarity, worth[among], p)
    chosen: list[int] = []
    characters = 0
    for place in np.argsort(-score, kind="stable").tolist():
        if len(chosen) == p.lines or score[place] < p.least * score.max():
            break
        sentence = compared[place]
        if characters + len(sentence.text) > p.characters and chosen:
            continue
        if not _is_told(sentence, [compared[i] for i in chosen], rarity, p):
            chosen.append(place)
            characters += len(sentence.text) + 1
    return sorted(int(among[place]) for place in chosen)


def _worth(
    sentence: Sentence,
    rarity: Mapping[str, float],
    p: DigestParams,
    asked: frozenset[str],
) -> float:
    """What a sentence is worth by itself, > 0: squared, so that what stands out does so clearly."""
    rarest = sorted((rarity.get(t, 0.0) for t in sentence.tokens), reverse=True)[:3]
    new = sum(rarest) / 3
    shared = len(asked & sentence.tokens) / max(1, len(asked))
    return (0.05 + sentence.importance + p.new * new + p.asked * shared) ** 2


def _walked(
    sentences: Sequence[Sentence],
    rarity: Mapping[str, float],
    worth: Floats,
    p: DigestParams,
) -> Floats:
    """Score of each sentence after the walk, float64[n]."""
    share: Floats = worth / worth.sum()
    weights = _shared_words(sentences, rarity, p)
    pairs = np.asarray(list(weights), np.int64).reshape(-1, 2)
    if not pairs.size:
        return share
    weight = np.asarray(list(weights.values()), np.float32)
    n = len(sentences)
    graph = build_csr(
        n,
        np.concatenate([pairs[:, 0], pairs[:, 1]]),
        np.concatenate([pairs[:, 1], pairs[:, 0]]),
        np.concatenate([weight, weight]),
    )
    walk = Walker(graph).walk(np.arange(n, dtype=np.uint32), share, WalkParams())
    score = np.zeros(n)
    score[walk.rows] = walk.score
    return score


def _shared_words(
    sentences: Sequence[Sentence], rarity: Mapping[str, float], p: DigestParams
) -> dict[tuple[int, int], float]:
    """Of each pair of sentences that share rare words the sum of their rarity."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, sentence in enumerate(sentences):
        for token in sentence.tokens:
            if token in rarity:
                holders[token].append(place)
    most = max(3, int(p.rare * len(sentences)))
    weights: defaultdict[tuple[int, int], float] = defaultdict(float)
    for token, places in sorted(holders.items()):
        if 1 < len(places) <= most:
            for pair in combinations(places, 2):
                weights[pair] += rarity[token]
    return weights


def _is_told(
    sentence: Sentence,
    chosen: Iterable[Sentence],
    rarity: Mapping[str, float],
    p: DigestParams,
) -> bool:
    """Whether a chosen sentence tells most of it: by its words, weighed by their rarity."""
    total = sum(rarity.get(token, 0.0) for token in sentence.tokens)
    plain = " ".join(sentence.text.split()).casefold()
    for other in chosen:
        if plain == " ".join(other.text.split()).casefold():
            return True
        shared = sum(rarity.get(t, 0.0) for t in sentence.tokens & other.tokens)
        if total and shared >= p.same * total:
            return True
    return False
