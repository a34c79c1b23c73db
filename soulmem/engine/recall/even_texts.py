"""Texts that fit a query equally: they differ only in words that it does not ask for.

What an embedding model makes of such a word, a name of somebody say, is no reason to tell
one of them first: the weights decide. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Float32s
from soulmem.retrieval.best import best_rows

_COMPARED = 40  # rows, the best by their text
# Share of the tokens of the longer text that both have: one word differs in a short sentence.
_ALIKE = 0.75
# Share by which the lexical scores of such texts differ at most: their length enters it.
_NEAR = 0.1


@compute_only
def with_even_texts(mind: Mind, context: RecallContext, scores: TextScores) -> TextScores:
    """The scores, in which texts that are alike have the score of the best of them."""
    rows = best_rows(scores.score, _COMPARED)
    # Reading is slow: most rows can be told apart without their texts, or without the words of these.
    rows = rows[_is_near_another(scores.lexical[rows])]
    every = mind.texts_at(rows.tolist())
    may_be = may_be_alike(scores.lexical[rows], list(map(len, every)))
    rows, texts = rows[may_be], list(compress(every, may_be))
    if not rows.size:
        return scores
    query = "\n".join(text for text, _ in context.query.word_parts)
    asked = frozenset(mind.tokeniser.tokens(query))
    tokens = [frozenset(mind.tokeniser.tokens(t)) for t in texts]
    groups = alike(tokens, asked)
    if len(set(groups)) == len(groups):
        return scores
    score: Float32s = scores.score.copy()
    for row, group in zip(rows.tolist(), groups, strict=True):
        score[row] = np.float32(scores.score[rows[group]])
    return replace(scores, score=score)


def may_be_alike(lexical: Float32s, lengths: Sequence[int]) -> NDArray[np.bool_]:
    """Which of the texts share words with the query, as much of it as another of nearly the same length."""
    sizes = np.asarray(lengths, np.float64)
    longer = np.maximum(sizes[:, None], sizes[None, :])
    shorter = np.minimum(sizes[:, None], sizes[None, :])
    pairs = _near(lexical) & (shorter >= _ALIKE * longer)
    return np.asarray((pairs | pairs.T).any(axis=1))


def _is_near_another(lexical: Float32s) -> NDArray[np.bool_]:
    """Which of these scores are near another one."""
    pairs = _near(lexical)
    return np.asarray((pairs | pairs.T).any(axis=1))


def _near(lexical: Float32s) -> NDArray[np.bool_]:
    """Which scores above 0 another is near to, bool[m, m]."""
    pairs = np.abs(lexical[:, None] - lexical[None, :]) <= _NEAR * lexical[:, None]
    pairs &= lexical[:, None] > 0
    np.fill_diagonal(pairs, False)
    return np.asarray(pairs, np.bool_)


def alike(texts: Sequence[frozenset[str]], asked: frozenset[str]) -> list[int]:
    """For each text, best first, the position of the first that it is alike to: itself where there is none.

    texts  tokens of each
    asked  tokens of the query: alike texts have the same of them
    """
    out: list[int] = []
    for position, text in enumerate(texts):
        first = position
        for other in dict.fromkeys(out):
            if _are_alike(texts[other], text, asked):
                first = other
                break
        out.append(first)
    return out


def _are_alike(a: frozenset[str], b: frozenset[str], asked: frozenset[str]) -> bool:
    if a & asked != b & asked:
        return False
    return len(a & b) >= _ALIKE * max(len(a), len(b), 1)
