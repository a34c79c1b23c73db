"""The candidates of a recall: text, expansion and weight make one score; some rows have reserved slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation, TermPath
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.decision import Line
from soulmem.engine.recall.deduplication import Deduplicated, deduplicate
from soulmem.engine.recall.even_texts import with_even_texts
from soulmem.engine.recall.expansion import Expansion, ExpansionParams
from soulmem.engine.recall.memory_weights import weights_of
from soulmem.engine.recall.time_question import lift, prefer_asked_time, time_slots
from soulmem.engine.recall.walks import WalkResult
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.retrieval.association import associated_rows
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.mood import Mood, mood_fit
from soulmem.retrieval.reserved_slots import (
    ReservedSlotParams,
    ReservedSlots,
    associated_places,
    association_slots,
    learned_slots,
    with_learned_slots,
    with_opened_slots,
)
from soulmem.retrieval.scoring import ScoreParams, combine, scaled, walk_weight, weight_factor
from soulmem.retrieval.time_spans import TimeSpanParams
from soulmem.retrieval.weights import WeightParams

# Rows that a learned association leads to, and rows with a term of the query, that are compared.
_COMPARED = 48


@dataclass(frozen=True, slots=True)
class RankingParams:
    """How scores are combined, and how many candidates there are."""

    considered: int = 60  # candidates beyond the places of the answer
    # Rows whose weight is computed: no weight lifts a row from further below.
    weighted_rows: int = 512
    expansion: ExpansionParams = field(default_factory=ExpansionParams)
    score: ScoreParams = field(default_factory=ScoreParams)
    weight: WeightParams = field(default_factory=WeightParams)
    slots: ReservedSlotParams = field(default_factory=ReservedSlotParams)
    when: TimeSpanParams = field(default_factory=TimeSpanParams)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates, best first, with what made their score; arrays of shape (m,).

    text               standard deviations above what memories usually score by their text
    alone              the same without pairs and neighbours
    walk_share         share of the expansion that arrives at the row
    association_slots  rows that only association leads to
    time_slots         rows with a slot reserved for the time they are of
    part_slots         rows with a slot reserved for a part of the query
    position           of every row of the mind in its chat
    learned            by row that a learned association leads to: the index of its term in `Active.terms`
    """

    rows: Int64s
    score: Float32s
    text: Float32s
    alone: Float32s
    dense: Float32s
    lexical: Float32s
    walk_share: Float32s
    association_slots: ReservedSlots
    time_slots: tuple[int, ...]
    part_slots: tuple[int, ...]
    position: NDArray[np.int32]
    expansion: Expansion
    learned: dict[int, int]
    deduplicated: Deduplicated

    @property
    def walk(self) -> WalkResult | None:
        """The walk, if there was one."""
        return self.expansion.walk

    def learned_path(self, row: int) -> TermPath | None:
        """The path of terms to a row that a learned association leads to; None for any other.

        Where activation alone expands, it leads to every row that has none of the query's own terms.
        """
        position, activation = self.learned.get(row), self.expansion.activation
        if activation is None:
            return None
        if position is None and self.expansion.by_terms:
            position = activation.strongest_in(row)
        return activation.path_to(position) if position is not None else None


@compute_only
def rank(
    mind: Mind,
    context: RecallContext,
    scores: TextScores,
    params: RankingParams,
    expansion: Expansion,
    asked_lines: Sequence[Line] = (),
    open_rows: Sequence[int] = (),
) -> Ranked:
    """The candidates for an answer; `open_rows`, the best first, before all others."""
    p = params
    evened = with_even_texts(mind, context, scores)
    unweighted = _unweighted(context, evened, expansion, p)
    score = _weighted(mind, context, unweighted, p)
    times = time_slots(
        mind,
        context.asked_time,
        score,
        context.max_items,
        lambda rows: _weights(mind, context, rows, p),
        p.when,
    )
    lift(score, np.asarray(open_rows, np.int64))
    # Neither is finite where nothing is visible.
    eligible = np.maximum(score, unweighted)
    slots, learned = _association_slots(mind, context, expansion, eligible, p)
    rows = np.flatnonzero(np.isfinite(score))
    parts = _part_slots(context, expansion, asked_lines, p)
    best = rows[best_rows(score[rows], p.considered + context.max_items)]
    listed = set(best.tolist())
    reserved = (*slots.front, *slots.behind, *times, *parts, *open_rows)
    added = np.asarray([row for row in reserved if row not in listed], np.int64)
    rows = np.concatenate([best, added])
    score[added] = np.where(np.isfinite(score[added]), score[added], unweighted[added])
    deduplicated = deduplicate(mind, context, rows, score)
    rows = deduplicated.rows
    rows = rows[np.lexsort((rows, -score[rows]))]
    return Ranked(
        rows=rows,
        score=score[rows],
        text=standardised(scores.score, context.visible, rows),
        alone=scores.alone[rows],
        dense=scores.dense[rows],
        lexical=scores.lexical[rows],
        walk_share=expansion.share[rows],
        association_slots=slots,
        time_slots=times,
        part_slots=parts,
        position=scores.position,
        expansion=expansion,
        learned=learned,
        deduplicated=deduplicated,
    )


def vectors_at(mind: Mind, rows: Int64s) -> Float32s:
    """The vectors of these memories, float32[rows, dim]; NaN where there is none."""
    table = mind.vector_queue.text_vectors
    if table is None:
        return np.full((rows.size, 1), np.nan, np.float32)
    return table.rows(rows)


def _unweighted(
    context: RecallContext, scores: TextScores, expansion: Expansion, p: RankingParams
) -> Float32s:
    """One score of each row from text and expansion, plus the bonus of the time asked for."""
    weights = p.score
    if scores.by_tokens:
        weights = replace(weights, walk=weights.walk_beside_tokens)
    params = replace(weights, walk=walk_weight(expansion.named, weights))
    combined = combine(
        scores.score, expansion.share, context.visible, None, params, expansion.started
    )
    if expansion.bridged is not None and scores.by_tokens:
        every = np.arange(combined.size)
        bridged = standardised(np.sqrt(expansion.bridged), context.visible, every)
        combined = combined + np.float32(p.score.bridge) * bridged
    return prefer_asked_time(combined, context.asked_time, p.when)


def _weighted(
    mind: Mind, context: RecallContext, unweighted: Float32s, p: RankingParams
) -> Float32s:
    """The score of the best rows by their weight, -inf for all others; float32[n]."""
    count = p.weighted_rows if context.query.embed_parts else 0
    rows = best_rows(unweighted, count)
    score = np.full(mind.size, -np.inf, np.float32)
    score[rows] = unweighted[rows]
    if context.request.mode is not RecallMode.BASELINE:
        weights = _weights(mind, context, rows, p)
        factor = weight_factor(weights, _mood_fit(mind, rows, context.mood), p.score)
        factor *= _confidence(mind, rows)
        score[rows] = scaled(unweighted[rows], factor)
    return score


def _confidence(mind: Mind, rows: Int64s) -> Float32s:
    """How far its lines carry each row that was drafted, 0..1; 1 for all others."""
    out = np.ones(rows.size, np.float32)
    drafted = mind.derivations.confidences()
    if drafted:
        below = {mind.row(MemoryId(key)): share for key, share in drafted.items()}
        for index, row in enumerate(rows.tolist()):
            out[index] = below.get(row, 1.0)
    return out


def _part_slots(
    context: RecallContext,
    expansion: Expansion,
    asked_lines: Sequence[Line],
    p: RankingParams,
) -> tuple[int, ...]:
    """The best rows for each part of the query: first the best of each part, by how well they fit their part.

    A small budget has no room for all of them.
    """
    if not asked_lines:
        return ()
    most = min(p.slots.of_part, max(1, context.max_items // (2 * len(asked_lines))))
    ranked = []
    for part in asked_lines:
        own = _unweighted(context, part.scores, expansion, p)
        for place, row in enumerate(best_rows(own, most).tolist()):
            ranked.append((place, -float(own[row]), row))
    return tuple(dict.fromkeys(row for _, _, row in sorted(ranked)))


def _association_slots(
    mind: Mind,
    context: RecallContext,
    expansion: Expansion,
    eligible: Float32s,
    p: RankingParams,
) -> tuple[ReservedSlots, dict[int, int]]:
    """Rows that only association leads to; and by row of a learned one the index of its term."""
    slots, learned = ReservedSlots((), ()), dict[int, int]()
    asked = context.asked_time
    if asked is not None and asked.only_time:  # no word of the query to start from
        return slots, learned
    frequency = expansion.named.astype(np.int64)
    if expansion.walk is not None and frequency.any():
        distances = expansion.walk.distances()
        slots = association_slots(eligible, distances, frequency, context.max_items, p.slots)
    if expansion.activation is not None:
        learned = _learned(mind, context, expansion.activation, eligible, p)
        slots = with_learned_slots(slots, list(learned))
    opened = [way.row for way in expansion.opened if np.isfinite(eligible[way.row])]
    most = max(p.expansion.vectors.slots, context.max_items // 3)
    most = min(most, context.max_items - 1)
    return with_opened_slots(slots, opened[: max(0, most)]), learned


def _learned(
    mind: Mind,
    context: RecallContext,
    activation: TermActivation,
    score: Float32s,
    p: RankingParams,
) -> dict[int, int]:
    """Rows with a slot because a learned association leads to them, and the index of the term that does."""
    slots = p.slots
    associated = associated_rows(
        activation.active,
        mind.terms.incidence,
        context.accessible,
        slots.joint_windows,
        slots.pull,
        slots.pull_share,
    )
    if not associated.rows.size:
        return {}
    first = best_rows(score, min(context.max_items, 10))
    is_open = np.isfinite(score)
    is_open[first] = False
    which = np.flatnonzero(is_open[associated.rows])[:_COMPARED]
    direct = associated.direct_rows[best_rows(score[associated.direct_rows], _COMPARED)]
    recalled = np.union1d(first, direct)
    rows = np.concatenate([recalled, associated.rows[which]])
    vectors = vectors_at(mind, rows)
    places = associated_places(context.max_items, slots)
    chosen = which[learned_slots(associated.pull[which], vectors, recalled.size, places, slots)]
    return {int(associated.rows[i]): int(associated.term_position[i]) for i in chosen}


def _mood_fit(mind: Mind, rows: Int64s, mood: Mood) -> Float32s | None:
    """How well the feelings of each of these memories fit the mood, 0..1; None without a mood."""
    if not mood:
        return None
    out = np.zeros(rows.size, np.float32)
    for i in np.flatnonzero(mind.columns.feeling[rows] > 0).tolist():
        emotions = mind.memory_at(int(rows[i])).situation.emotions
        out[i] = mood_fit(mood, [(e.label, e.intensity) for e in emotions])
    return out


def _weights(mind: Mind, context: RecallContext, rows: Int64s, p: RankingParams) -> Float32s:
    """The weight of each of these memories, 0..1; see `retrieval.weights`."""
    return weights_of(
        mind,
        rows,
        p.weight,
        extra_turns=context.extra_turns,
        chat=context.request.chat,
        tags=context.request.tags,
    )
