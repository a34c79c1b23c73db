"""The pieces of a change together are the change, and each edge comes with or after its ends."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from itertools import chain
from operator import attrgetter

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.graph.branches import Branch

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
SOUL = SoulId("s1")


def change_of(count: int, ends: list[tuple[int, int]]) -> MindChange:
    """So many new memories, and edges among these and what was there before (negative numbers)."""
    memories = tuple(
        Memory(MemoryId(f"m{i}"), SOUL, MemoryKind.EPISODE, "x", Origin.CHAT, NOON)
        for i in range(count)
    )
    edges = tuple(
        Edge(
            SOUL,
            MemoryId(f"m{a}"),
            MemoryId(f"m{b}"),
            EdgeKind.NEXT,
            Origin.CHAT,
            NOON,
            strength=1.0,
        )
        for a, b in ends
        if a < count and b < count
    )
    branch = Branch(ChatId("c1"), ChatId("c1"), tuple(m.id for m in memories))
    return MindChange(memories, (MemoryId("old"),), edges, ("gone",), branch)


def ids(memories: Iterable[Memory]) -> set[MemoryId]:
    return {memory.id for memory in memories}


def ends_of(edges: Iterable[Edge]) -> set[MemoryId]:
    """The memories at which these edges start or end."""
    return set(chain.from_iterable((edge.source, edge.target) for edge in edges))


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.integers(-3, 29), st.integers(-3, 29)), max_size=40),
    st.integers(1, 12),
)
def test_pieces_are_the_change_and_each_is_whole(
    count: int, ends: list[tuple[int, int]], size: int
) -> None:
    whole = change_of(count, ends)
    pieces = list(whole.batches(size))
    new = ids(whole.put_memories)
    seen = set[MemoryId]()
    for piece in pieces:
        assert len(piece.put_memories) <= size
        seen |= ids(piece.put_memories)
        assert ends_of(piece.put_edges) & new <= seen
    memories = chain.from_iterable(piece.put_memories for piece in pieces)
    assert list(memories) == list(whole.put_memories)
    edges = chain.from_iterable(piece.put_edges for piece in pieces)
    by_id = attrgetter("id")
    assert sorted(edges, key=by_id) == sorted(whole.put_edges, key=by_id)
    assert pieces[-1].branch == whole.branch
    assert pieces[-1].drop_memories == whole.drop_memories
    for piece in pieces[:-1]:
        assert (piece.branch, piece.drop_memories, piece.drop_edges) == (None, (), ())
