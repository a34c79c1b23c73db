"""Concept activation: how active concepts are by themselves, by their mentions and recalls.

Base activation of consolidation/base_activation.py, read from a loaded mind.
Compute thread only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from soulmem.consolidation.base_activation import (
    MENTION_GAIN,
    RECALL_GAIN,
    ActivationEvent,
    base_activation,
    base_activations,
    mention_event,
    recall_event,
)
from soulmem.domain.edges import Edge
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Place
from soulmem.domain.usage import Usage
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.provenance import source_places
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.latest_mentions import LATEST
from soulmem.kernels.arrays import Bools, Float64s, Int64s
from soulmem.language.name_tokens import Tokens, fold


@compute_only
def ages_of_last_telling(mind: Mind, chat: ChatId | None, extra: int, rows: Int64s) -> Int64s:
    """As `Mind.exchange_ages`, for a memory that unites tellings the age of the last one that `chat` knows."""
    ages = mind.exchange_ages(chat, extra, rows)
    merged, centres = mind.tellings.row_pairs()
    is_asked = np.zeros(mind.size, np.bool_)
    is_asked[rows] = True
    counted = mind.columns.live[merged] & is_asked[centres]
    if not counted.any():
        return ages
    if chat is not None:
        counted &= _known(mind, chat, merged)
    merged, centres = merged[counted], centres[counted]
    youngest = np.full(mind.size, np.iinfo(np.int64).max)
    np.minimum.at(youngest, centres, mind.exchange_ages(chat, extra, merged))
    return np.asarray(np.minimum(ages, youngest[rows]), np.int64)


@compute_only
def with_joined_tellings(mind: Mind, chat: ChatId | None, accessible: Bools) -> Bools:
    """These rows and those of the tellings that they unite, as far as `chat` knows them: what was told again
    was met again.
    """
    merged, centres = mind.tellings.row_pairs()
    counted = mind.columns.live[merged] & accessible[centres]
    if not counted.any():
        return accessible
    if chat is not None:
        counted &= _known(mind, chat, merged)
    out: Bools = accessible.copy()
    out[merged[counted]] = True
    return out


def _known(mind: Mind, chat: ChatId, rows: Int64s) -> Bools:
    """Which of these episodes the chat holds, or only chats of other families do."""
    inside = mind.chat_rows(chat)
    family = mind.columns.family
    is_apart = family[rows] != (family[inside[0]] if inside.size else -2)
    return np.asarray(np.isin(rows, inside) | is_apart)


_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
STABILITY = 600.0  # turns; S0 of a memory, design 6
# 0..1, salience of a mention whose text does not say how much it is about the concept.
MENTION_SALIENCE = 0.5


@dataclass(frozen=True, slots=True)
class ConceptActivation:
    """How active a concept is."""

    activation: float  # 0..1
    idle: float  # turns of the soul's clock since its last mention or recall


@compute_only
def concept_activations(
    mind: Mind,
    concepts: Iterable[MemoryId],
    extra: int,
) -> dict[MemoryId, ConceptActivation]:
    """Present activation of each of these concepts; `extra` turns of a moved clock are added."""
    current_turn = mind.time.current_turn(extra)
    pace = mind.soul.settings.forgetting
    out: dict[MemoryId, ConceptActivation] = {}
    for key, events in _events(mind, list(concepts)).items():
        activation = base_activation(events, current_turn, pace)
        idle = current_turn - max(event.turn for event in events)
        out[key] = ConceptActivation(activation, max(0.0, idle))
    return out


@compute_only
def raised_by_activation(
    mind: Mind,
    rows: Int64s,
    strengths: Float64s,
    extra: int,
) -> Float64s:
    """The strengths of these rows, 0..1, with those of concepts raised to their activation.

    Every mention counts with the same salience, since looking at the texts would take too long.
    """
    concepts = np.flatnonzero(mind.columns.kind[rows] == _CONCEPT)
    if not concepts.size:
        return strengths
    concept_rows = rows[concepts]
    place = np.full(mind.size, -1, np.int64)
    place[concept_rows] = np.arange(concepts.size)
    target, touched, at_turn = mind.edges.mentions(concept_rows)
    recalled, recall_turns = _recalls_by_place(mind, concept_rows)
    concept = np.concatenate([place[target], recalled])
    mention_turns = mind.time.turns_at_touch(touched / 1e6, at_turn)
    turns = np.concatenate([mention_turns, recall_turns])
    counts = [target.size, recall_turns.size]
    gain = np.repeat([MENTION_GAIN * MENTION_SALIENCE, RECALL_GAIN], counts)
    current_turn = mind.time.current_turn(extra)
    pace = mind.soul.settings.forgetting
    active = base_activations(concept, turns, gain, current_turn, pace)
    out: Float64s = strengths.copy()
    raised = concepts[: active.size]
    out[raised] = np.maximum(out[raised], active)
    return out


def _recalls_by_place(mind: Mind, rows: Int64s) -> tuple[Int64s, Float64s]:
    """For each stored recall of these rows: the row's place among them, and the clock's reading then."""
    usages: list[tuple[MemoryId, Usage]] = []
    places: dict[MemoryId, int] = {}
    for place in np.flatnonzero(mind.recalls.uses(mind.size)[rows]).tolist():
        key = mind.id_at(int(rows[place]))
        usage = mind.recalls.usage(key)
        if usage is not None:
            usages.append((key, usage))
            places[key] = place
    pairs = [(places[key], turn) for key, turn in _recall_turns(mind, usages)]
    recalled, turns = np.asarray(pairs, np.float64).reshape(-1, 2).T
    return recalled.astype(np.int64), turns


@compute_only
def memory_strengths(mind: Mind, rows: Int64s, extra: int, chat: ChatId | None = None) -> Float64s:
    """Strength of each of these memories after forgetting, 0..1; of concepts at least their activation."""
    exchanges = ages_of_last_telling(mind, chat, extra, rows)
    age = mind.time.row_ages(rows, exchanges, extra)
    decayed = np.exp(-age * mind.soul.settings.forgetting / STABILITY)
    return raised_by_activation(mind, rows, decayed, extra)


@compute_only
def term_activations(
    mind: Mind,
    terms: Int64s,
    met: Bools,
    chat: ChatId | None,
    extra: int,
) -> Float64s:
    """How active terms are by themselves, float64, 0..1: by the texts with them, and the recalls of these.

    terms  int64[k], distinct
    met    bool[n]  the rows of the texts that count

    Every text counts with the same salience, and of its recalls the last one.
    """
    place, rows = mind.terms.incidence.rows_of(terms, met)
    distinct, index = np.unique(rows, return_inverse=True)
    ages = mind.time.row_ages(distinct, mind.exchange_ages(chat, extra, distinct), extra)
    pace = mind.soul.settings.forgetting / STABILITY
    gain = MENTION_GAIN * MENTION_SALIENCE * np.exp(-pace * ages)
    since = mind.recalls.since_use(distinct, mind.lived_turns(extra))
    recalled = np.isfinite(since)
    gain[recalled] += RECALL_GAIN * np.exp(-pace * since[recalled])
    # Of several gains each takes its share of what is missing to 1.
    total = np.bincount(place, np.log1p(-gain)[index], terms.size)
    return np.asarray(-np.expm1(total), np.float64)


@compute_only
def turns_since_recall(
    mind: Mind, memories: Iterable[MemoryId], extra: int
) -> dict[MemoryId, float]:
    """Turns of the soul's clock since the last recall of each; memories never recalled are left out."""
    current_turn = mind.time.current_turn(extra)
    out: dict[MemoryId, float] = {}
    for key, turn in _recall_turns(mind, _usages(mind, memories)):
        out[key] = min(out.get(key, np.inf), max(0.0, current_turn - turn))
    return out


@compute_only
def places_mentioning(
    mind: Mind, concept: MemoryId, most: int, first: ChatId | None = None
) -> tuple[Place, ...]:
    """At most `most` places in chats where texts mention the concept, the latest first."""
    out: dict[Place, None] = {}
    count = 0
    for edge in _mentions(mind, concept):
        for place in source_places(mind, mind.memories[edge.source], first):
            if count == most:
                return tuple(out)
            out[place] = None
            count += 1
    return tuple(out)


def _events(mind: Mind, concepts: list[MemoryId]) -> dict[MemoryId, list[ActivationEvent]]:
    """The mentions and recalls of each concept; its creation for one that has none."""
    out: defaultdict[MemoryId, list[ActivationEvent]] = defaultdict(list)
    mentions: list[tuple[MemoryId, Edge]] = []
    for key in concepts:
        mentions += ((key, edge) for edge in _mentions(mind, key))
    touched = [edge.touched.timestamp() for _, edge in mentions]
    noted = [np.nan if e.at_turn is None else e.at_turn for _, e in mentions]
    turns = mind.time.turns_at_touch(np.asarray(touched, np.float64), np.asarray(noted, np.float64))
    for (key, edge), turn in zip(mentions, turns.tolist(), strict=True):
        out[key].append(mention_event(turn, _salience(mind, key, edge)))
    for key, turn in _recall_turns(mind, _usages(mind, concepts)):
        out[key].append(recall_event(turn))
    for key in concepts:
        if key not in out:  # made by hand and neither mentioned nor recalled since
            memory = mind.memories[key]
            created = np.asarray([memory.created.timestamp()], np.float64)
            turn = float(mind.time.turns_at(created)[0])
            out[key].append(mention_event(turn, memory.importance))
    return out


def _usages(mind: Mind, memories: Iterable[MemoryId]) -> list[tuple[MemoryId, Usage]]:
    """The recall records of those of these memories that have one."""
    records = ((key, mind.recalls.usage(key)) for key in memories)
    return [(key, usage) for key, usage in records if usage is not None]


def _recall_turns(mind: Mind, usages: list[tuple[MemoryId, Usage]]) -> list[tuple[MemoryId, float]]:
    """The clock's reading at each recall that these records keep."""
    keys: list[MemoryId] = []
    moments: list[float] = []
    noted: list[float] = []
    for key, usage in usages:
        for stamp in usage.stamps:
            keys.append(key)
            moments.append(stamp.moment.timestamp())
            noted.append(stamp.turn)
    turns = mind.time.turns_at_touch(np.asarray(moments, np.float64), np.asarray(noted, np.float64))
    return list(zip(keys, turns.tolist(), strict=True))


def _mentions(mind: Mind, concept: MemoryId) -> list[Edge]:
    """At most LATEST mentions of the concept by loaded texts, the last one first."""
    row = mind.row(concept)
    if row is None:
        return []
    slots = mind.edges.mention_slots(np.asarray([row], np.int64)).tolist()
    stored = map(mind.edges.edge_at, slots)
    edges = [edge for edge in stored if edge.source in mind.memories]
    edges.sort(key=lambda edge: (edge.touched, edge.at_turn or 0.0, edge.id), reverse=True)
    return edges[:LATEST]  # more could not raise the activation further


def _salience(mind: Mind, concept: MemoryId, edge: Edge) -> float:
    """How much the mentioning text is about the concept, 0..1."""
    memory: Memory = mind.memories[concept]
    names = (memory.text, *(memory.concept.aliases if memory.concept else ()))
    words = set(map(fold, names)).union(*(Tokens.of(name).folded for name in names))
    terms = mind.memories[edge.source].terms
    saliences = [term.salience for term in terms if fold(term.key) in words]
    return max(saliences, default=MENTION_SALIENCE)
