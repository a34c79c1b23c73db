"""A fact as a memory: the relation between two concepts, read as a sentence. Compute thread only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from soulmem.consolidation.validity import FactValidity
from soulmem.domain.edges import Edge
from soulmem.domain.ids import MemoryId
from soulmem.engine.api.requests import MemoryFilter
from soulmem.engine.api.results import MemoryView, Page
from soulmem.engine.editing.cursors import Cursor, ordered_cursor, start_after
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.doubted import is_in_doubt, is_waiting, opinion_of
from soulmem.engine.views.fact_validity import fact_validities
from soulmem.engine.views.faded_edges import unfaded_edge
from soulmem.engine.views.listed_facts import listed_facts
from soulmem.engine.views.provenance import source_places
from soulmem.engine.views.repeated_concepts import repeated_concepts


@compute_only
def whole_fact(mind: Mind, fact: MemoryId, extra_turns: int) -> MemoryView:
    """The fact, which must exist, with its relation as it is now; one that has faded has strength 0."""
    (view,) = _viewed(mind, [mind.edges.existing(fact)], extra_turns)
    return view


@compute_only
def fact_page(
    mind: Mind,
    wanted: MemoryFilter,
    after: Cursor | None,
    extra_turns: int,
    ranked: Sequence[MemoryId] = (),
) -> Page:
    """One page of facts after the cursor `after`, each as `whole_fact`; see `listed_facts` for their order.

    Raises Unprocessable for a cursor of another list.
    """
    slots = listed_facts(mind, wanted, extra_turns, ranked)
    last = None if after is None else mind.edges.slot(after[2])
    start = start_after(after, slots, last)
    edges = [
        mind.edges.edge_at(slot)
        for slot in slots[start : start + wanted.limit].tolist()
    ]
    end = start + len(edges)
    cursor = ordered_cursor(end, edges[-1].id) if edges and end < slots.size else None
    return Page(_viewed(mind, edges, extra_turns), cursor)


def has_memory(mind: Mind, key: MemoryId) -> bool:
    """Whether the mind has a memory or a fact of this id, or shows the word of a topic under it."""
    is_stored = mind.memories.get(key) is not None or key in mind.facts
    return is_stored or mind.names.topic_tags.word(key) is not None


def _viewed(mind: Mind, stored: Sequence[Edge], extra_turns: int) -> list[MemoryView]:
    """The facts of these relations."""
    turn = mind.lived_turns(extra_turns)
    edges = [
        unfaded_edge(mind, edge, turn) or replace(edge, strength=0.0) for edge in stored
    ]
    standing, shown_as = fact_validities(mind, edges), repeated_concepts(mind)
    views = (_view(mind, edge, standing) for edge in edges)
    return [replace(view, shown_as=shown_as) for view in views]


def _view(mind: Mind, edge: Edge, standing: Mapping[str, FactValidity]) -> MemoryView:
    key = MemoryId(edge.id)
    memory = mind.facts[key]
    return MemoryView(
        memory,
        source_places(mind, memory),
        edges=(edge,),
        strength=edge.strength,
        usage=mind.recalls.usage(key),
        standing={edge.id: standing[edge.id]},
        feedback=opinion_of(mind, key).score,
        in_doubt=is_in_doubt(mind, key),
        is_waiting=is_waiting(mind, key),
        confidence=edge.confidence,
        is_fact=True,
    )
