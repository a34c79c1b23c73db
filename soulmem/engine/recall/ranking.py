"""Which memories does the moment call for? Text, walk and weight make one score; the best are candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall import expansion as reaching
from soulmem.engine.recall.activation import Spread, Thought
from soulmem.engine.recall.deduplication import Held, HoldingParams, held
from soulmem.engine.recall.expansion import Reach, ReachParams, reach
from soulmem.engine.recall.scene import Scene, Texts
from soulmem.engine.recall.time_question import preferring, seats_of_time
from soulmem.engine.recall.walks import Walked, Walks
from soulmem.engine.views.concept_activation import strengths
from soulmem.graph.association import MEMORY_KINDS
from soulmem.kernels.walk import Walk
from soulmem.retrieval.association import associated_rows
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.mood import Mood, MoodParams, fit, mood_given, mood_of
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
_CALLED = 48  # of what a learned association calls up, and of what mentions the cue, that are compared


@dataclass(frozen=True, slots=True)
class RankingParams:
    """How the voices make one list."""

    considered: int = 60  # candidates beyond the seats of the answer
    weighed: int = (
        512  # rows whose weight is looked at: no weight lifts a row from further below
    )
    reach: ReachParams = field(default_factory=ReachParams)
    score: ScoreParams = field(default_factory=ScoreParams)
    weight: WeightParams = field(default_factory=WeightParams)
    seats: ReservedSlotParams = field(default_factory=ReservedSlotParams)
    when: TimeSpanParams = field(default_factory=TimeSpanParams)
    holding: HoldingParams = field(default_factory=HoldingParams)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Best rows first, with what made their score; arrays of shape (m,)."""

    rows: Ints
    score: Floats
    text: Floats  # standard deviations above what memories usually score by their text
    alone: Floats  # the same without what stands beside it
    dense: Floats
    lexical: Floats
    walked: Floats  # how often the walk is found there
    seats: ReservedSlots  # rows that only association leads to
    of_kind: tuple[int, ...]  # rows with a seat for their kind
    of_time: tuple[int, ...]  # rows with a seat for the time they are of
    position: NDArray[np.int32]  # of every row of the mind in its chat
    reach: Reach
    learned: dict[
        int, int
    ]  # rows that a learned association leads to, and the place of its term
    held: Held  # facts that are over, and such as others tell as well

    @property
    def walk(self) -> Walked | None:
        """The walk, if there was one."""
        return self.reach.walk

    def thought(self, row: int) -> Thought | None:
        """What the cue made the soul think of, if that is how it came to the row."""
        place = self.learned.get(row)
        spread = self.reach.spread
        return (
            spread.thought(place) if spread is not None and place is not None else None
        )


def rank(
    mind: Mind,
    walks: Walks,
    scene: Scene,
    texts: Texts,
    params: RankingParams,
    spread: Callable[[], Spread | None] | None = None,
) -> Ranked:
    """The candidates for an answer. Computes; `spread` is `reaching.spread_ahead`, where it was begun."""
    p, n = params, mind.size
    mood = mood_now(mind, scene)
    plain = scene.request.mode is RecallMode.BASELINE
    gone = reach(mind, walks, scene, texts, mood, p.reach, spread)
    heard = replace(p.score, walk=walk_weight(gone.named, p.score))
    voices = combine(texts.score, gone.share, scene.visible, None, heard, gone.started)
    voices = preferring(voices, scene.asked, p.when)
    rows = best_rows(voices, p.weighed if scene.cue.meant else 0)
    score = np.full(n, -np.inf, np.float32)
    score[rows] = voices[rows]
    if not plain:
        factor = weight_factor(
            _weights(mind, scene, rows, p), _fit(mind, rows, mood), p.score
        )
        score[rows] = scaled(voices[rows], factor)
    of_time = seats_of_time(
        mind,
        scene.asked,
        score,
        scene.max_items,
        lambda few: _weights(mind, scene, few, p),
        p.when,
    )
    seats, learned = _seats(mind, scene, gone, voices, score, p)
    rows = np.flatnonzero(np.isfinite(score))
    kind = mind.columns.kind[rows]
    most = (
        0 if plain else scene.max_items // 4
    )  # for each of two kinds: half the seats at most
    few = replace(p.seats, of_kind=min(p.seats.of_kind, most))
    of_kind = rows[
        kind_slots(score[rows], [np.isin(kind, _EPISODES), np.isin(kind, _FACTS)], few)
    ].tolist()
    best = rows[best_rows(score[rows], p.considered + scene.max_items)]
    first = set(best.tolist())
    late = [
        row
        for row in (*seats.front, *seats.behind, *of_kind, *of_time)
        if row not in first
    ]
    rows = np.concatenate([best, np.asarray(late, np.int64)])
    score[late] = np.where(np.isfinite(score[late]), score[late], voices[late])
    told = held(mind, scene, rows, score, p.holding)
    rows = told.rows[np.lexsort((told.rows, -score[told.rows]))]
    return Ranked(
        rows=rows,
        score=score[rows],
        text=standardised(texts.score, scene.visible, rows),
        alone=texts.alone[rows],
        dense=texts.dense[rows],
        lexical=texts.lexical[rows],
        walked=gone.share[rows],
        seats=seats,
        of_kind=tuple(of_kind),
        of_time=of_time,
        position=texts.position,
        reach=gone,
        learned=learned,
        held=told,
    )


def _seats(
    mind: Mind,
    scene: Scene,
    gone: Reach,
    voices: Floats,
    score: Floats,
    p: RankingParams,
) -> tuple[ReservedSlots, dict[int, int]]:
    """Rows that only association leads to; and of those a learned one leads to, the place of its term."""
    seats, learned = ReservedSlots((), ()), dict[int, int]()
    if scene.asked is not None and scene.asked.only:
        return seats, learned  # no word leads anywhere
    eligible = np.maximum(score, voices)  # neither is finite where nothing is visible
    if gone.walk is not None:
        ways, names = gone.walk.distances(), gone.named.astype(np.int64)
        seats = association_slots(eligible, ways, names, scene.max_items, p.seats)
    if gone.spread is not None:
        learned = _learned(mind, scene, gone.spread, eligible, p)
        seats = with_learned_slots(seats, list(learned), p.seats)
    return seats, learned


def _learned(
    mind: Mind, scene: Scene, spread: Spread, score: Floats, p: RankingParams
) -> dict[int, int]:
    """What has a seat because the cue makes the soul think of it, and the place of the term leading there."""
    seats, table = p.seats, mind.embedded.turns
    found = associated_rows(
        spread.active,
        mind.terms.incidence,
        scene.known,
        seats.joint_windows,
        seats.pull,
        seats.pull_share,
    )
    if not found.rows.size:
        return {}
    first = best_rows(score, min(scene.max_items, 10))
    may = np.isfinite(score)
    may[first] = False
    which = np.flatnonzero(may[found.rows])[:_CALLED]
    told = np.union1d(
        first, found.direct_rows[best_rows(score[found.direct_rows], _CALLED)]
    )
    rows = np.concatenate([told, found.rows[which]])
    vectors = (
        table.rows(rows)
        if table is not None
        else np.full((rows.size, 1), np.nan, np.float32)
    )
    places = round(seats.associated * scene.max_items)
    chosen = which[learned_slots(found.pull[which], vectors, told.size, places, seats)]
    return {int(found.rows[at]): int(found.term_position[at]) for at in chosen}


def walk_alone(
    mind: Mind, walks: Walks, scene: Scene, texts: Texts, params: RankingParams
) -> Walk | None:
    """The walk that `rank` takes, None where there is none. Computes."""
    walked = reaching.walk_alone(
        mind, walks, scene, texts, mood_now(mind, scene), params.reach
    )
    return walked.walk if walked is not None else None


def named(mind: Mind, scene: Scene) -> list[MemoryId]:
    """The concepts that the cue names, known or not. Computes."""
    return [concept for concepts, _ in scene.named for concept in concepts]


def mood_now(mind: Mind, scene: Scene) -> Mood:
    """The mood that is given, else the one that the feelings of the chat's last memories make."""
    given, chat = scene.request.mood, scene.request.chat
    if given is not None:
        return mood_given(given.label, given.intensity)
    strand = mind.lineages.strand(chat) if chat is not None else None
    last = strand.order[-MoodParams().messages :] if strand is not None else ()
    memories = (mind.memories.get(key) for key in last)
    return mood_of(
        [
            [(e.label, e.intensity) for e in m.situation.emotions]
            for m in memories
            if m is not None
        ]
    )


def _fit(mind: Mind, rows: Ints, mood: Mood) -> Floats | None:
    """How well the feeling of each of these memories fits the mood."""
    if not mood:
        return None
    feelings = (mind.at(int(row)).situation.emotions for row in rows)
    fits = (
        fit(mood, [(e.label, e.intensity) for e in felt]) if felt else 0.0
        for felt in feelings
    )
    return np.fromiter(fits, np.float32, rows.size)


def _weights(mind: Mind, scene: Scene, rows: Ints, p: RankingParams) -> Floats:
    """The weight of each of these memories, 0..1; see `retrieval.weights`."""
    settings = mind.soul.settings
    facets = MemoryFactors(
        importance=mind.columns.importance[rows].astype(np.float64),
        feeling=mind.columns.feeling[rows].astype(np.float64),
        retention=strengths(mind, rows, scene.extra_turns, scene.request.chat),
        uses=mind.recalls.uses(mind.size)[rows].astype(np.float64),
        since_use=mind.recalls.since_use(rows, mind.turns(scene.extra_turns)),
        content=_content(mind, scene, rows),
        feedback=mind.opinions.scores(mind.size)[rows],
    )
    return memory_weight(facets, p.weight.of_soul(settings.weights))


def _content(mind: Mind, scene: Scene, rows: Ints) -> Doubles:
    """The share of the tags asked for that each memory carries."""
    wanted = {tag.casefold() for tag in scene.request.tags}
    if not wanted:
        return np.zeros(rows.size)
    carried = (
        len(wanted & {tag.casefold() for tag in mind.at(int(row)).tags}) for row in rows
    )
    return np.fromiter(carried, np.float64, rows.size) / len(wanted)
