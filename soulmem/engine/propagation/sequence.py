"""Edges from a message to the next one: forgotten messages have none, and get them back when they return.

They follow from the order of the chats, so they are not audited. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.pairs import Pair


def next_edge(soul: SoulId, pair: Pair, current_time: datetime) -> Edge:
    """The edge from the first message of a pair to the second."""
    return Edge(soul, *pair, EdgeKind.NEXT, Origin.CHAT, current_time, strength=1.0)


@compute_only
def joins_forgotten(mind: Mind, pair: Pair) -> bool:
    """Whether one of the two messages is forgotten."""
    return any(_is_forgotten(mind.memories.get(end)) for end in pair)


@compute_only
def with_sequence(mind: Mind, change: MindChange, current_time: datetime) -> MindChange:
    """The change, with the edges that it cuts or brings back by forgetting messages or restoring them."""
    after = {memory.id: memory for memory in change.put_memories}
    drop: dict[str, None] = {}
    put: dict[str, Edge] = {}
    for memory in _turned(mind, change):
        if memory.state is MemoryState.FORGOTTEN:
            edges = mind.edges.of(memory.id, EdgeKind.NEXT)
            drop.update((edge.id, None) for edge in edges if edge.origin is Origin.CHAT)
        elif memory.state is not MemoryState.RETRACTED:  # else its chats part it
            for pair in mind.frame().pairs.beside(memory.id):
                ends = (after.get(end) or mind.memories.get(end) for end in pair)
                if not any(map(_is_forgotten, ends)):
                    edge = next_edge(mind.soul.id, pair, current_time)
                    put[edge.id] = edge
    if not drop and not put:
        return change
    # An undone change brings its own.
    put_edges = {key: edge for key, edge in put.items() if key not in mind.edges}
    own = {edge.id for edge in change.put_edges}
    return replace(
        change,
        put_edges=(
            *(edge for edge in change.put_edges if edge.id not in drop),
            *(edge for key, edge in put_edges.items() if key not in own),
        ),
        drop_edges=tuple(dict.fromkeys((*change.drop_edges, *drop))),
    )


@compute_only
def with_ends(mind: Mind, change: MindChange) -> MindChange:
    """The change, with the forgotten messages that its edges join: the store takes no edge to a shelved one."""
    put = {memory.id for memory in change.put_memories}
    ends = dict.fromkeys(end for edge in change.put_edges for end in (edge.source, edge.target))
    forgotten = []
    for end in ends:
        row = mind.row(end)
        if end in put or row is None or mind.columns.in_use[row]:
            continue
        memory = mind.memories.get(end)
        if memory is not None and _is_forgotten(memory):
            forgotten.append(memory)
    if not forgotten:
        return change
    return replace(change, put_memories=(*change.put_memories, *forgotten))


def _turned(mind: Mind, change: MindChange) -> Iterator[Memory]:
    """Episodes of the change that are forgotten by it, or were before and are no more."""
    episodes = (m for m in change.put_memories if m.kind is MemoryKind.EPISODE)
    for memory in episodes:
        old = mind.memories.get(memory.id)
        if old is not None and _is_forgotten(old) is not _is_forgotten(memory):
            yield memory


def _is_forgotten(memory: Memory | None) -> bool:
    return memory is not None and memory.state is MemoryState.FORGOTTEN
