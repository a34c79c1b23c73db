"""Found topics whose words no text in use holds any more."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.provenance import texts_with_term


def stale_topics(mind: Mind) -> list[MemoryId]:
    """Found topics that write down a concept which no text in use holds any more. Computes."""
    gone: dict[str, bool] = {}
    out = []
    for memory in mind.names.concepts():
        if memory.is_found_topic:
            for name in memory.tags:
                if name not in gone:
                    gone[name] = not texts_with_term(mind, name)
            if any(gone[name] for name in memory.tags):
                out.append(memory.id)
    return out
