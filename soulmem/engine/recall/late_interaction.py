"""Late interaction in a recall: the best texts are compared with the query token by token."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.line_matches import token_matches
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.ports.embedder import TokenStates
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.late_interaction import Sample, late_scores, standardise

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

# Texts that are compared token by token: the best by vectors and words, and some of all others, which tell what
# is usual. Beyond 120 nothing is gained on any measured set.
CANDIDATES = 120
_OTHERS = 32


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """The token states of the texts of a query, each with its share; the last text is the newest."""

    parts: tuple[tuple[TokenStates, float], ...]


@dataclass(frozen=True, slots=True)
class _Compared:
    """The rows that are compared, of which `core` are scored and the rest are their neighbours."""

    rows: Ints
    core: Ints  # positions in `rows`
    sample: Sample


@compute_only
def interact(
    mind: Mind, context: RecallContext, scores: TextScores, query: QueryTokens
) -> TextScores | None:
    """Score the best texts token by token. None where no text is visible.

    A text that is not compared keeps its score, but none above the mean.
    """
    base = _standardised(scores.score, context)
    compared = _compared(mind, context, scores)
    if not compared.core.size:
        return None
    total = np.zeros(compared.rows.size)
    alone = np.zeros(compared.rows.size)
    chat = context.request.chat
    whole = max(share for _, share in query.parts)
    for states, share in query.parts:
        if not share or not states.pieces.size:
            continue
        matches = token_matches(mind, chat, states, compared.rows)
        late = late_scores(
            matches.best,
            matches.covered,
            matches.idf,
            matches.length,
            compared.sample,
        )
        weight = share / whole
        total += weight * _or_base(late.score, base, compared)
        alone += weight * _or_base(late.alone, base, compared)
    rows = compared.rows[compared.core]
    score = np.minimum(base, 0.0).astype(np.float32)
    score[~context.visible] = -np.inf
    score[rows] = standardise(total, compared.sample.weight)[compared.core]
    own = np.where(context.visible, score, 0.0).astype(np.float32)
    text_alone = scores.alone.copy()
    text_alone[rows] = standardise(alone, compared.sample.weight)[compared.core]
    return replace(scores, score=score, own=own, alone=text_alone, by_tokens=True)


def _standardised(score: NDArray[np.float32], context: RecallContext) -> Doubles:
    rows = np.arange(score.size)
    return standardised(score, context.visible, rows).astype(np.float64)


def _compared(mind: Mind, context: RecallContext, scores: TextScores) -> _Compared:
    """The best rows and some of all others, with their neighbours in the chat."""
    visible = np.flatnonzero(context.visible)
    best = best_rows(scores.score, CANDIDATES)
    step = max(1, visible.size // _OTHERS)
    others = np.setdiff1d(visible[::step], best)
    if visible.size <= CANDIDATES + _OTHERS:
        best, others = visible, np.zeros(0, np.int64)
    beside = mind.neighbours(context.request.chat)
    core = np.union1d(best, others)
    neighbours = np.concatenate([beside.before[core], beside.after[core]])
    rows = np.union1d(core, neighbours[neighbours >= 0]).astype(np.int64)
    weight = np.zeros(rows.size)
    weight[np.searchsorted(rows, best)] = 1.0
    if others.size:
        remaining = visible.size - best.size
        weight[np.searchsorted(rows, others)] = remaining / others.size
    return _Compared(
        rows,
        np.searchsorted(rows, core),
        Sample(
            before=_positions(rows, beside.before[rows]),
            after=_positions(rows, beside.after[rows]),
            weight=weight,
        ),
    )


def _positions(rows: Ints, wanted: NDArray[np.int32]) -> Ints:
    """Where each wanted row stands in `rows`, which ascend; -1 for none."""
    place = np.minimum(np.searchsorted(rows, wanted), rows.size - 1)
    return np.where((wanted >= 0) & (rows[place] == wanted), place, -1)


def _or_base(late: Doubles, base: Doubles, compared: _Compared) -> Doubles:
    """The late scores; those of vectors and words for memories whose token states are not made yet."""
    return np.where(np.isnan(late), base[compared.rows], late)
