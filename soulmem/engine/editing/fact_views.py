"""A fact as a memory: the relation between two concepts, read as a sentence. Compute thread only."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.results import MemoryView
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.engine.views.faded_edges import unfaded_edge
from soulmem.engine.views.provenance import source_places


@compute_only
def whole_fact(mind: Mind, fact: MemoryId, extra_turns: int) -> MemoryView:
    """The fact, which must exist, with its relation as it is now; one that has faded has strength 0."""
    stored = mind.edges.existing(fact)
    edge = unfaded_edge(mind, stored, mind.lived_turns(extra_turns))
    if edge is None:
        edge = replace(stored, strength=0.0)
    memory = mind.facts[fact]
    return MemoryView(
        memory,
        source_places(mind, memory),
        edges=(edge,),
        strength=edge.strength,
        standing=fact_validities(mind, [edge]),
        confidence=1.0 if edge.confidence is None else edge.confidence,
        is_fact=True,
    )


def has_memory(mind: Mind, key: MemoryId) -> bool:
    """Whether the mind has a memory, or a fact, of this id."""
    return mind.memories.get(key) is not None or key in mind.facts
