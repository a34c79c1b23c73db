"""Drafted concepts that repeat a concept of the card, the user or the chat: players see one concept of a name.

Stored they stay two: what texts are linked to must not depend on what a language model drafted.
Compute thread only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.concept_descriptions import concept_id


@compute_only
def repeated_concepts(mind: Mind) -> dict[MemoryId, MemoryId]:
    """By each drafted concept that lists leave out: the known concept of that name, which they show."""
    in_use = mind.columns.in_use
    return {
        draft: known
        for draft, known in mind.drafted.known(mind.names, mind.revision).items()
        if (row := mind.row(known)) is not None and in_use[row]
    }


@compute_only
def drafts_of(mind: Mind, concept: Memory) -> list[Memory]:
    """The drafted concepts, in any state, that have a name of this concept; none for a draft itself."""
    if concept.kind is not MemoryKind.CONCEPT or concept.origin is Origin.MODEL:
        return []
    names = (concept.text, *(concept.concept.aliases if concept.concept else ()))
    keys = dict.fromkeys(concept_id(mind.soul.id, name) for name in names)
    drafts = (mind.memories.get(key) for key in keys)
    return [d for d in drafts if d is not None and d.origin is Origin.MODEL]


@compute_only
def repeats_of(
    mind: Mind, concept: Memory, shown_as: Mapping[MemoryId, MemoryId]
) -> list[Memory]:
    """The drafted concepts that lists leave out for this concept; `shown_as` as `repeated_concepts` returns it."""
    drafts = drafts_of(mind, concept) if shown_as else ()
    return [draft for draft in drafts if shown_as.get(draft.id) == concept.id]


@compute_only
def described(
    mind: Mind, memory: Memory, shown_as: Mapping[MemoryId, MemoryId]
) -> Memory:
    """The memory; a concept without a description gets that of a draft with its name."""
    detail = memory.concept
    if detail is None or detail.description:
        return memory
    for draft in repeats_of(mind, memory, shown_as):
        if draft.concept and draft.concept.description:
            told = replace(detail, description=draft.concept.description)
            return replace(memory, concept=told)
    return memory


@compute_only
def shown_rows(mind: Mind, shown_as: Mapping[MemoryId, MemoryId]) -> NDArray[np.int64]:
    """Each row itself, but for a repeated concept the row of the concept that is shown, int64[rows]."""
    shown = np.arange(mind.size, dtype=np.int64)
    for draft, known in shown_as.items():
        row, known_row = mind.row(draft), mind.row(known)
        if row is not None and known_row is not None:
            shown[row] = known_row
    return shown
