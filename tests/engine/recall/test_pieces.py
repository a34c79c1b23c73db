"""Is a change in pieces the change, and is each piece whole?"""

from __future__ import annotations

from datetime import datetime, timezone

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.graph.lineage import Strand

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
    strand = Strand(ChatId("c1"), ChatId("c1"), tuple(m.id for m in memories))
    return MindChange(memories, (MemoryId("old"),), edges, ("gone",), strand)


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.integers(-3, 29), st.integers(-3, 29)), max_size=40),
    st.integers(1, 12),
)
def test_pieces(count: int, ends: list[tuple[int, int]], size: int) -> None:
    whole = change_of(count, ends)
    pieces = list(whole.batches(size))
    new = {m.id for m in whole.put_memories}
    seen = set[MemoryId]()
    for piece in pieces:
        assert len(piece.put_memories) <= size
        seen |= {m.id for m in piece.put_memories}
        assert all(
            end in seen or end not in new
            for e in piece.put_edges
            for end in (e.source, e.target)
        )
    assert [m for piece in pieces for m in piece.put_memories] == list(
        whole.put_memories
    )
    told = [e.id for piece in pieces for e in piece.put_edges]
    assert sorted(told) == sorted(e.id for e in whole.put_edges)
    assert [piece.strand for piece in pieces] == [None] * (len(pieces) - 1) + [
        whole.strand
    ]
    assert [piece.drop_memories for piece in pieces][-1] == whole.drop_memories
    assert all(
        not piece.drop_memories and not piece.drop_edges for piece in pieces[:-1]
    )
