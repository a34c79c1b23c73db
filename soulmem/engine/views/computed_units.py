"""Computed units: what the text of a memory is made of, by what the soul knows of the names in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from soulmem.conversation.episodes import spoken
from soulmem.conversation.micro_units import unit_spans
from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import DERIVED, Memory, MemoryKind
from soulmem.domain.micro_units import UnitSpan
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.language.name_tokens import fold

_EPISODES = (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)
_REMEMBERED = 2048  # texts, some 4 MB; the same ones are told again and again


@compute_only
def computed_spans(mind: Mind, memory: Memory) -> tuple[UnitSpan, ...]:
    """The units of the memory's own text; none of what was written by hand or is no episode."""
    if memory.kind not in _EPISODES or memory.origin not in DERIVED:
        return ()
    label = len(memory.text) - len(spoken(memory))
    place = memory.situation.location
    names = tuple(_names(mind, memory).items())
    return _spans(memory.text, names, place, label, memory.names)


@lru_cache(_REMEMBERED)
def _spans(
    text: str,
    names: tuple[tuple[str, str | None], ...],
    place: str | None,
    label: int,
    new_names: tuple[str, ...],
) -> tuple[UnitSpan, ...]:
    return unit_spans(text, dict(names), place, label, new_names)


def _names(mind: Mind, memory: Memory) -> dict[str, str | None]:
    """The known names in the text, each with the description of its concept, "" of one without; None of those
    that are not forgotten: the soul's own, and of those that talk with it, whatever they are called.
    """
    is_speaker = mind.name_counts.is_speaker
    names: dict[str, str | None] = {}
    for description, alike in _concepts(mind, memory):
        is_own = mind.soul.name in alike or any(is_speaker(fold(n)) for n in alike)
        inside = (name for name in alike if name in memory.text)
        names.update(dict.fromkeys(inside, None if is_own else description))
    for name in memory.names:
        if name not in names and is_speaker(fold(name)):
            names[name] = None
    return names


def _concepts(mind: Mind, memory: Memory) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The description and the names of each concept that the text mentions."""
    for key in mind.edges.targets(memory.id, EdgeKind.MENTIONS):
        concept = mind.names.concept(key) or mind.memories.get(key)
        detail = concept.concept if concept is not None else None
        description = (detail.description if detail is not None else None) or ""
        yield description, mind.names.names_of(key)
