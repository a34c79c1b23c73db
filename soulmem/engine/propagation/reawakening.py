"""Forgotten concepts come into use again when a new text mentions them. Compute thread only."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only


@compute_only
def with_reawakened(mind: Mind, change: MindChange) -> MindChange:
    """The change, with the forgotten concepts active again that it adds mentions of."""
    put = {memory.id: memory for memory in change.put_memories}
    woken: dict[MemoryId, Memory] = {}
    for edge in change.put_edges:
        if edge.kind is not EdgeKind.MENTIONS or edge.target in woken:
            continue
        concept = put.get(edge.target) or mind.memories.get(edge.target)
        if concept is not None and concept.state is MemoryState.FORGOTTEN:
            revision = concept.revision + 1
            woken[edge.target] = replace(
                concept, state=MemoryState.ACTIVE, revision=revision
            )
    if not woken:
        return change
    return replace(change, put_memories=tuple((put | woken).values()))
