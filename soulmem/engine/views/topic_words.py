"""Found topics that have lost their words. Compute thread only."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.provenance import texts_with_term


@compute_only
def stale_topics(mind: Mind) -> list[MemoryId]:
    """Found topics with a tag that no text in use contains any more."""
    is_lost: dict[str, bool] = {}
    out: list[MemoryId] = []
    for memory in mind.names.concepts():
        if not memory.is_found_topic:
            continue
        for name in memory.tags:
            if name not in is_lost:
                is_lost[name] = not texts_with_term(mind, name)
        if any(is_lost[name] for name in memory.tags):
            out.append(memory.id)
    return out
