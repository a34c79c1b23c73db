"""Released tellings: when the memory that stands for others goes, another of them takes its place.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from soulmem.consolidation.tellings import events_of, no_vectors
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import DERIVED, Memory, MemoryState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.draft_retraction import with_retracted_drafts
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.alike_tellings import telling_of

_COMPARED = 60  # tellings that are compared while a change waits: some 10 ms


@compute_only
def with_consequences(mind: Mind, change: MindChange) -> MindChange:
    """The change, with its effects on drafts and joined tellings."""
    return with_released_tellings(mind, with_retracted_drafts(mind, change))


@compute_only
def with_released_tellings(mind: Mind, change: MindChange) -> MindChange:
    """The change, with what it means for memories that are joined.

    When a memory that stands for others goes, or may not stand for them any more, the
    others are joined anew by their words alone, those that do not tell the same come
    back. The next Idle compares them by vectors, too.
    """
    put = {memory.id: _settled(memory) for memory in change.put_memories}
    dropped = set(change.drop_memories)
    members: list[Memory] = []
    for key in dict.fromkeys((*put, *change.drop_memories)):
        new = put.get(key)
        if new is None or not _may_stand(new):
            members += _members(mind, put, dropped, key)
    put.update((m.id, m) for m in _joined_anew(mind, members))
    for memory in list(put.values()):
        centre = memory.merged_into
        if centre is not None and not _stands(mind, put, dropped, centre):
            put[memory.id] = with_centre(memory, None)
    if tuple(put.values()) == change.put_memories:
        return change
    return replace(change, put_memories=tuple(put.values()))


def _settled(memory: Memory) -> Memory:
    """The memory; in use and alone where it may not be merged, without a centre where it is not."""
    if memory.state is MemoryState.MERGED and not _may_be_merged(memory):
        return replace(memory, state=MemoryState.ACTIVE, merged_into=None)
    if memory.merged_into is not None and memory.state is not MemoryState.MERGED:
        return replace(memory, merged_into=None)
    return memory


def _may_be_merged(memory: Memory) -> bool:
    return memory.origin in DERIVED and not (memory.permanent or memory.locked)


def _may_stand(memory: Memory) -> bool:
    """Whether a memory may stand for others: in use, derived and unprotected."""
    return _may_be_merged(memory) and memory.state is MemoryState.ACTIVE


def _stands(
    mind: Mind, put: Mapping[MemoryId, Memory], dropped: set[MemoryId], key: MemoryId
) -> bool:
    """Whether after the change a memory of that id may stand for others."""
    if key in dropped and key not in put:
        return False
    memory = put.get(key) or mind.memories.get(key)
    return memory is not None and _may_stand(memory)


def _members(
    mind: Mind, put: Mapping[MemoryId, Memory], dropped: set[MemoryId], centre: MemoryId
) -> list[Memory]:
    """The memories that the change leaves merged into this one, as they are after it."""
    keys = (key for key in mind.tellings.merged(centre) if key not in dropped)
    members = (put.get(key) or mind.memories[key] for key in keys)
    return [m for m in members if m.merged_into == centre]


def _joined_anew(mind: Mind, members: list[Memory]) -> list[Memory]:
    """The members merged into those of them that stand for others now, the others in use by themselves.

    Of very many the first told stands for all until the next Idle compares them.
    """
    centre_of: dict[MemoryId, MemoryId] = {}
    if len(members) > _COMPARED:
        first = min(members, key=lambda memory: (memory.happened, memory.id)).id
        centre_of = {m.id: first for m in members if m.id != first}
        return [with_centre(m, centre_of.get(m.id)) for m in members]
    tellings = [telling_of(mind, memory) for memory in members]
    for event in events_of(tellings, (), no_vectors):
        centre_of.update(dict.fromkeys(event.others, event.centre))
    return [with_centre(memory, centre_of.get(memory.id)) for memory in members]


def with_centre(memory: Memory, centre: MemoryId | None) -> Memory:
    """The memory merged into another, or with None in use by itself; the same if it is so already."""
    state = MemoryState.ACTIVE if centre is None else MemoryState.MERGED
    if memory.state is state and memory.merged_into == centre:
        return memory
    return replace(memory, state=state, merged_into=centre, revision=memory.revision + 1)
