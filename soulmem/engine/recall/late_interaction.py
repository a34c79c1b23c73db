"""Late interaction in a recall: the best texts are compared with the query token by token."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.token_scores import TokenMatches, token_matches
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.vectors.world_background import Usual
from soulmem.ports.embedder import TokenStates
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.late_interaction import (
    LateScores,
    Sample,
    late_scores,
    standardise,
    wide_matches,
)
from soulmem.retrieval.restraint import evidence

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

# Texts that are compared token by token: the best by vectors and words, and some of all others, which tell what
# is usual. Beyond 120 nothing is gained on any measured set.
CANDIDATES = 120
_OTHERS = 32
# Memories that may show that a line calls for one: those that fit it best. Among all, a long line finds some
# memory with one of its words, whatever it says. 3 to 8 judge alike.
_EVIDENT = 5


@dataclass(frozen=True, slots=True)
class QueryTokens:
    """The token states of the texts of a query, each with its share, and what plain lines say of the last.

    The last text is the newest one, and calls for memories or does not. `usual` is None where the lines
    are not at hand.
    """

    parts: tuple[tuple[TokenStates, float], ...]
    usual: Usual | None


@dataclass(frozen=True, slots=True)
class LateResult:
    """Text scores with those of late interaction, and the most evidence that the newest text calls for one of
    the memories; None where plain lines are not at hand.
    """

    scores: TextScores
    evidence: float | None


@dataclass(frozen=True, slots=True)
class _Compared:
    """The rows that are compared, of which `core` are scored and the rest are their neighbours."""

    rows: Ints
    core: Ints  # positions in `rows`
    sample: Sample


@compute_only
def interact(
    mind: Mind, context: RecallContext, scores: TextScores, query: QueryTokens
) -> LateResult | None:
    """Score the best texts token by token. None where no text is visible.

    A text that is not compared keeps its score, but none above the mean.
    """
    base = _standardised(scores.score, context)
    compared = _compared(mind, context, scores)
    if not compared.core.size:
        return None
    total = np.zeros(compared.rows.size)
    alone = np.zeros(compared.rows.size)
    strongest = None
    chat, last = context.request.chat, len(query.parts) - 1
    whole = max(share for _, share in query.parts)
    for place, (states, share) in enumerate(query.parts):
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
        if place == last and query.usual is not None:
            strongest = _evidence(matches, late, states, query.usual, compared, base)
    rows = compared.rows[compared.core]
    score = np.minimum(base, 0.0).astype(np.float32)
    score[~context.visible] = -np.inf
    score[rows] = standardise(total, compared.sample.weight)[compared.core]
    own = np.where(context.visible, score, 0.0).astype(np.float32)
    text_alone = scores.alone.copy()
    text_alone[rows] = standardise(alone, compared.sample.weight)[compared.core]
    out = replace(scores, score=score, own=own, alone=text_alone, by_tokens=True)
    return LateResult(out, strongest)


def _evidence(
    matches: TokenMatches,
    late: LateScores,
    states: TokenStates,
    usual: Usual,
    compared: _Compared,
    base: Doubles,
) -> float | None:
    """The most evidence for one of the memories that fit best; None where one that may has no token states yet."""
    core = compared.core
    likely = best_rows(base[compared.rows[core]], _EVIDENT)
    if np.isnan(late.score[core[likely]]).any():
        return None
    fitting = core[best_rows(late.score[core], _EVIDENT)]
    wide = wide_matches(matches.best, compared.sample.before)
    by_memory = evidence(
        wide[:, fitting], matches.idf, usual.match, usual.rarity, states.pieces
    )
    return float(by_memory.max(initial=0.0))


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
