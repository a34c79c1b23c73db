"""How well the tokens of a query match those of memories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.kernels.max_similarity import max_similarity
from soulmem.ports.embedder import TokenStates

Floats = NDArray[np.float32]


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

    best: Floats
    covered: Floats
    idf: Floats
    length: NDArray[np.int64]


@compute_only
def passage_matches(
    mind: Mind, chat: ChatId | None, states: TokenStates, row: int
) -> tuple[Floats, Floats]:
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
    return TokenMatches(
        matches.of_best_windows(idf), matches.covered, idf, np.diff(texts.starts)
    )
