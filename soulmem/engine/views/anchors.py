"""Anchors: words of a memory that outlast what stands around them."""

from __future__ import annotations

from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.drafted_anchors import drafted_anchors
from soulmem.engine.views.drafted_anchors import (
    drafted_episode_id as drafted_episode_id,
)
from soulmem.engine.views.faded_texts import record_of


def anchors_of(mind: Mind, memory: Memory) -> tuple[str, ...]:
    """The words of the memory that are anchored, by hand or by its drafts, each once."""
    record = record_of(mind, memory)
    if record is not None and record.own_anchors:
        return tuple(dict.fromkeys(anchor.text for anchor in record.anchors))
    return drafted_anchors(mind, memory)
