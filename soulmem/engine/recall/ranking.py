"""The candidates of a recall: text, expansion and weight make one score; some rows have reserved slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation, TermPath
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.deduplication import (
    Deduplicated,
    DeduplicationParams,
    deduplicate,
)
from soulmem.engine.recall.expansion import Expansion, ExpansionParams, expand
from soulmem.engine.recall.time_question import prefer_asked_time, time_slots
from soulmem.engine.recall.walks import WalkResult, Walks
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.concept_activation import memory_strengths
from soulmem.graph.association import MEMORY_KINDS
from soulmem.retrieval.association import associated_rows
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.mood import Mood, mood_fit
from soulmem.retrieval.reserved_slots import (
    ReservedSlotParams,
    ReservedSlots,
    association_slots,
    kind_slots,
    learned_slots,
    with_learned_slots,
)
from soulmem.retrieval.scoring import (
    ScoreParams,
    combine,
    scaled,
    walk_weight,
    weight_factor,
)
from soulmem.retrieval.time_spans import TimeSpanParams
from soulmem.retrieval.weights import MemoryFactors, WeightParams, memory_weight

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

_EPISODES = tuple(
    MEMORY_KINDS.index(kind)
    for kind in (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)
)
_FACTS = tuple(
    MEMORY_KINDS.index(kind) for kind in (MemoryKind.NOTE, MemoryKind.CONCEPT)
)
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
    deduplication: DeduplicationParams = field(default_factory=DeduplicationParams)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates, best first, with what made their score; arrays of shape (m,).

    text               standard deviations above what memories usually score by their text
    alone              the same without pairs and neighbours
    walk_share         share of the expansion that arrives at the row
    association_slots  rows that only association leads to
    kind_slots         rows with a slot reserved for their kind
    time_slots         rows with a slot reserved for the time they are of
    position           of every row of the mind in its chat
    learned            by row that a learned association leads to: the index of its term in `Active.terms`
    """

    rows: Ints
    score: Floats
    text: Floats
    alone: Floats
    dense: Floats
    lexical: Floats
    walk_share: Floats
    association_slots: ReservedSlots
    kind_slots: tuple[int, ...]
    time_slots: tuple[int, ...]
    position: NDArray[np.int32]
    expansion: Expansion
    learned: dict[int, int]
    deduplicated: Deduplicated

    @property
    def walk(self) -> WalkResult | None:
        """The walk, if there was one."""
        return self.expansion.walk

    def learned_path(self, row: int) -> TermPath | None:
        """The path of terms to a row that a learned association leads to; None for any other."""
        position, activation = self.learned.get(row), self.expansion.activation
        if activation is None or position is None:
            return None
        return activation.path_to(position)


@compute_only
def rank(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: RankingParams,
    activation_result: Callable[[], TermActivation | None] | None = None,
) -> Ranked:
    """The candidates for an answer.

    `activation_result` returns what `expansion.activation_of` would, where that was computed before.
    """
    p = params
    expansion = expand(mind, walks, context, scores, p.expansion, activation_result)
    unweighted = _unweighted(context, scores, expansion, p)
    score = _weighted(mind, context, unweighted, p)
    times = time_slots(
        mind,
        context.asked_time,
        score,
        context.max_items,
        lambda rows: _weights(mind, context, rows, p),
        p.when,
    )
    # Neither is finite where nothing is visible.
    eligible = np.maximum(score, unweighted)
    slots, learned = _association_slots(mind, context, expansion, eligible, p)
    rows = np.flatnonzero(np.isfinite(score))
    kinds = _kind_slots(mind, context, rows, score, p)
    best = rows[best_rows(score[rows], p.considered + context.max_items)]
    listed = set(best.tolist())
    reserved = (*slots.front, *slots.behind, *kinds, *times)
    added = np.asarray([row for row in reserved if row not in listed], np.int64)
    rows = np.concatenate([best, added])
    score[added] = np.where(np.isfinite(score[added]), score[added], unweighted[added])
    deduplicated = deduplicate(mind, context, rows, score, p.deduplication)
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
        kind_slots=kinds,
        time_slots=times,
        position=scores.position,
        expansion=expansion,
        learned=learned,
        deduplicated=deduplicated,
    )


def vectors_at(mind: Mind, rows: Ints) -> Floats:
    """The vectors of these memories, float32[rows, dim]; NaN where there is none."""
    table = mind.vector_queue.text_vectors
    if table is None:
        return np.full((rows.size, 1), np.nan, np.float32)
    return table.rows(rows)


def _unweighted(
    context: RecallContext, scores: TextScores, expansion: Expansion, p: RankingParams
) -> Floats:
    """Text and expansion of each row as one score, and what the time asked for adds."""
    params = replace(p.score, walk=walk_weight(expansion.named, p.score))
    combined = combine(
        scores.score, expansion.share, context.visible, None, params, expansion.started
    )
    return prefer_asked_time(combined, context.asked_time, p.when)


def _weighted(
    mind: Mind, context: RecallContext, unweighted: Floats, p: RankingParams
) -> Floats:
    """The score of the best rows by their weight, -inf for all others; float32[n]."""
    count = p.weighted_rows if context.query.embed_parts else 0
    rows = best_rows(unweighted, count)
    score = np.full(mind.size, -np.inf, np.float32)
    score[rows] = unweighted[rows]
    if context.request.mode is not RecallMode.BASELINE:
        weights = _weights(mind, context, rows, p)
        factor = weight_factor(weights, _mood_fit(mind, rows, context.mood), p.score)
        score[rows] = scaled(unweighted[rows], factor)
    return score


def _kind_slots(
    mind: Mind, context: RecallContext, rows: Ints, score: Floats, p: RankingParams
) -> tuple[int, ...]:
    """The best episodes and the best facts; none in the baseline."""
    if context.request.mode is RecallMode.BASELINE:
        return ()
    most = context.max_items // 4  # for each of two kinds: half the places at most
    params = replace(p.slots, of_kind=min(p.slots.of_kind, most))
    kind = mind.columns.kind[rows]
    kinds = [np.isin(kind, _EPISODES), np.isin(kind, _FACTS)]
    return tuple(rows[kind_slots(score[rows], kinds, params)].tolist())


def _association_slots(
    mind: Mind,
    context: RecallContext,
    expansion: Expansion,
    eligible: Floats,
    p: RankingParams,
) -> tuple[ReservedSlots, dict[int, int]]:
    """Rows that only association leads to; and by row of a learned one the index of its term."""
    slots, learned = ReservedSlots((), ()), dict[int, int]()
    asked = context.asked_time
    if asked is not None and asked.only_time:  # no word of the query to start from
        return slots, learned
    if expansion.walk is not None:
        distances = expansion.walk.distances()
        frequency = expansion.named.astype(np.int64)
        slots = association_slots(
            eligible, distances, frequency, context.max_items, p.slots
        )
    if expansion.activation is not None:
        learned = _learned(mind, context, expansion.activation, eligible, p)
        slots = with_learned_slots(slots, list(learned), p.slots)
    return slots, learned


def _learned(
    mind: Mind,
    context: RecallContext,
    activation: TermActivation,
    score: Floats,
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
    places = round(slots.associated * context.max_items)
    chosen = which[
        learned_slots(associated.pull[which], vectors, recalled.size, places, slots)
    ]
    return {int(associated.rows[i]): int(associated.term_position[i]) for i in chosen}


def _mood_fit(mind: Mind, rows: Ints, mood: Mood) -> Floats | None:
    """How well the feelings of each of these memories fit the mood, 0..1; None without a mood."""
    if not mood:
        return None
    out = np.zeros(rows.size, np.float32)
    for i in np.flatnonzero(mind.columns.feeling[rows] > 0).tolist():
        emotions = mind.memory_at(int(rows[i])).situation.emotions
        out[i] = mood_fit(mood, [(e.label, e.intensity) for e in emotions])
    return out


def _weights(
    mind: Mind, context: RecallContext, rows: Ints, p: RankingParams
) -> Floats:
    """The weight of each of these memories, 0..1; see `retrieval.weights`."""
    settings = mind.soul.settings
    extra, chat = context.extra_turns, context.request.chat
    factors = MemoryFactors(
        importance=mind.columns.importance[rows].astype(np.float64),
        feeling=mind.columns.feeling[rows].astype(np.float64),
        retention=memory_strengths(mind, rows, extra, chat),
        uses=mind.recalls.uses(mind.size)[rows].astype(np.float64),
        since_use=mind.recalls.since_use(rows, mind.lived_turns(extra)),
        content=_shared_tags(mind, context, rows),
        feedback=mind.opinions.scores(mind.size)[rows],
    )
    return memory_weight(factors, p.weight.of_soul(settings.weights))


def _shared_tags(mind: Mind, context: RecallContext, rows: Ints) -> Doubles:
    """The share of the requested tags that each memory carries, 0..1."""
    wanted = {tag.casefold() for tag in context.request.tags}
    shares = np.zeros(rows.size)
    if not wanted:
        return shares
    for i, row in enumerate(rows.tolist()):
        tags = {tag.casefold() for tag in mind.memory_at(row).tags}
        shares[i] = len(wanted & tags) / len(wanted)
    return shares
