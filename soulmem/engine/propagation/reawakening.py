"""Forgotten concepts that a new text mentions are in use again."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind


def with_reawakened(mind: Mind, change: MindChange) -> MindChange:
    """The change, with what was forgotten in use again of which its texts speak. Computes."""
    put = {memory.id: memory for memory in change.put_memories}
    woken: dict[MemoryId, Memory] = {}
    for target in {
        edge.target for edge in change.put_edges if edge.kind is EdgeKind.MENTIONS
    }:
        known = put.get(target) or mind.memories.get(target)
        if known is not None and known.state is MemoryState.FORGOTTEN:
            woken[target] = replace(
                known, state=MemoryState.ACTIVE, revision=known.revision + 1
            )
    return (
        replace(change, put_memories=tuple((put | woken).values())) if woken else change
    )
