"""How present are concepts by themselves? Their mentions and recalls, read off the mind, as base activation.

Everything here computes: worker only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.base_activation import (
    ActivationEvent,
    ActivationParams,
    base_activation,
    base_activations,
    mention_event,
    recall_event,
)
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Place
from soulmem.domain.usage import Usage
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.provenance import source_places
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.mentions import LATEST
from soulmem.language.name_tokens import Tokens, fold

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)
STABILITY = 600.0  # turns; S0 of a memory, design 6
_SALIENCE = (
    0.5  # 0..1, of a mention whose text does not tell how much it is about the concept
)


@dataclass(frozen=True, slots=True)
class ConceptActivation:
    """How present a concept is."""

    activation: float  # 0..1
    idle: float  # turns of the soul's clock since it was met or recalled last


def concept_activations(
    mind: Mind,
    concepts: Iterable[MemoryId],
    extra: int,
    params: ActivationParams | None = None,
) -> dict[MemoryId, ConceptActivation]:
    """How present each of these concepts is now; `extra` turns of a moved clock count."""
    p = params or ActivationParams()
    now, pace = mind.time.current_turn(extra), mind.soul.settings.forgetting
    return {
        key: ConceptActivation(
            base_activation(met, now, pace, p),
            max(0.0, now - max(one.turn for one in met)),
        )
        for key, met in _met(mind, list(concepts), p).items()
    }


def raised_by_activation(
    mind: Mind,
    rows: Ints,
    fading: Floats,
    extra: int,
    params: ActivationParams | None = None,
) -> Floats:
    """What is left of these rows by their age, 0..1, and of concepts at least how present they are.

    As if each text were as much about the concept that it mentions: to look into it takes too long.
    """
    p = params or ActivationParams()
    concepts = np.flatnonzero(mind.columns.kind[rows] == _CONCEPT)
    if not concepts.size:
        return fading
    place = np.full(mind.size, -1, np.int64)
    place[rows[concepts]] = np.arange(concepts.size)
    target, touched, at_turn = mind.edges.mentions(rows[concepts])
    recalled = np.flatnonzero(mind.recalls.uses(mind.size)[rows[concepts]])
    keys = ((at, mind.id_at(int(rows[concepts[at]]))) for at in recalled.tolist())
    usages = [
        (key, at, usage)
        for at, key in keys
        if (usage := mind.recalls.usage(key)) is not None
    ]
    at_of = {key: at for key, at, _ in usages}
    used = [
        (at_of[key], turn)
        for key, turn in _used(mind, [(key, usage) for key, _, usage in usages])
    ]
    whose, when = np.asarray(used, np.float64).reshape(-1, 2).T
    concept = np.concatenate([place[target], whose.astype(np.int64)])
    moments = np.concatenate([mind.time.turns_at_touch(touched / 1e6, at_turn), when])
    gain = np.repeat([p.mention * _SALIENCE, p.recall], [target.size, when.size])
    now, pace = mind.time.current_turn(extra), mind.soul.settings.forgetting
    active = base_activations(concept, moments, gain, now, pace, p)
    out: Floats = fading.copy()
    met = concepts[: active.size]
    out[met] = np.maximum(out[met], active)
    return out


def memory_strengths(
    mind: Mind, rows: Ints, extra: int, chat: ChatId | None = None
) -> Floats:
    """How fresh each of these memories is still, 0..1: what time and the soul's dial left of it. Concepts are
    at least as fresh as they are present.
    """
    age = mind.time.row_ages(rows, mind.exchange_ages(chat, extra, rows), extra)
    return raised_by_activation(
        mind, rows, np.exp(-age * mind.soul.settings.forgetting / STABILITY), extra
    )


def turns_since_recall(
    mind: Mind, memories: Iterable[MemoryId], extra: int
) -> dict[MemoryId, float]:
    """Turns of the soul's clock since the last recall of each; those never recalled are left out."""
    now = mind.time.current_turn(extra)
    used = [
        (key, usage)
        for key in memories
        if (usage := mind.recalls.usage(key)) is not None
    ]
    out: dict[MemoryId, float] = {}
    for key, at in _used(mind, used):
        out[key] = min(out.get(key, np.inf), max(0.0, now - at))
    return out


def places_mentioning(
    mind: Mind, concept: MemoryId, most: int, first: ChatId | None = None
) -> tuple[Place, ...]:
    """Where texts mention it, the latest first."""
    texts = (mind.memories[edge.source] for edge in _mentions(mind, concept))
    places = (place for text in texts for place in source_places(mind, text, first))
    return tuple(
        dict.fromkeys(place for place, _ in zip(places, range(most), strict=False))
    )


def _met(
    mind: Mind, concepts: list[MemoryId], p: ActivationParams
) -> dict[MemoryId, list[ActivationEvent]]:
    """When each was met, and what it gained."""
    out: defaultdict[MemoryId, list[ActivationEvent]] = defaultdict(list)
    found = [(key, edge) for key in concepts for edge in _mentions(mind, key)]
    moments = np.asarray([edge.touched.timestamp() for _, edge in found], np.float64)
    turns = np.asarray(
        [np.nan if e.at_turn is None else e.at_turn for _, e in found], np.float64
    )
    for (key, edge), at in zip(
        found, mind.time.turns_at_touch(moments, turns).tolist(), strict=True
    ):
        out[key].append(mention_event(at, _salience(mind, key, edge), p))
    used = [
        (key, usage)
        for key in concepts
        if (usage := mind.recalls.usage(key)) is not None
    ]
    for key, at in _used(mind, used):
        out[key].append(recall_event(at, p))
    for key in concepts:
        known = mind.memories[key]
        if key not in out:  # made by hand, and never met since
            made = np.asarray([known.created.timestamp()], np.float64)
            out[key].append(
                mention_event(float(mind.time.turns_at(made)[0]), known.importance, p)
            )
    return out


def _used(
    mind: Mind, used: list[tuple[MemoryId, Usage]]
) -> Iterator[tuple[MemoryId, float]]:
    """What the clock showed at each recall that is kept."""
    stamps = [(key, stamp) for key, usage in used for stamp in usage.stamps]
    moments = np.asarray([stamp.moment.timestamp() for _, stamp in stamps], np.float64)
    turns = np.asarray([stamp.turn for _, stamp in stamps], np.float64)
    shown = mind.time.turns_at_touch(moments, turns).tolist()
    return ((key, at) for (key, _), at in zip(stamps, shown, strict=True))


def _mentions(mind: Mind, concept: MemoryId) -> list[Edge]:
    """The latest links from texts in use to the concept, the last one first."""
    edges = [
        edge
        for edge in mind.edges.of(concept)
        if edge.kind is EdgeKind.MENTIONS
        and edge.target == concept
        and edge.source in mind.memories
    ]
    edges.sort(
        key=lambda edge: (edge.touched, edge.at_turn or 0.0, edge.id), reverse=True
    )
    return edges[:LATEST]  # with more of them a concept is as present as can be


def _salience(mind: Mind, concept: MemoryId, edge: Edge) -> float:
    """How much the text is about the concept, 0..1."""
    known: Memory = mind.memories[concept]
    names = (known.text, *(known.concept.aliases if known.concept else ()))
    words = {fold(name) for name in names}.union(
        *(Tokens.of(name).folded for name in names)
    )
    found = (
        term.salience
        for term in mind.memories[edge.source].terms
        if fold(term.key) in words
    )
    return max(found, default=_SALIENCE)
