"""The memory vectors of edges in the store, and when they go, fake and real alike."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.ports.store import Change, Store
from tests.ports.stores import OWNER, SOUL, edge, full_change


def vector(
    key: str = "", source: str = "mem-1", target: str = "mem-2", soul: str = SOUL
) -> EdgeVector:
    """A vector of the edge of `full_change`, or of another one."""
    return EdgeVector(
        soul=SoulId(soul),
        edge=key or edge().id,
        source=MemoryId(source),
        target=MemoryId(target),
        model="model@1",
        weight=-0.123456789,
        turn=41.5,
        data=bytes(range(256)) + b"\x00\xff",
    )


async def stored(store: Store, soul: str = SOUL, owner: Owner = OWNER) -> list[str]:
    """The edges that have a vector."""
    return [one.edge for one in await store.edge_vectors(owner, SoulId(soul))]


async def test_vectors_come_back_as_they_were(store: Store) -> None:
    """Each byte and the weight; only those of the soul and the owner."""
    mine, other = vector(), vector("e-other", soul="soul-2")
    await store.commit(replace(full_change(), put_edge_vectors=[mine, other]))
    assert await store.edge_vectors(OWNER, SoulId(SOUL)) == [mine]
    assert await store.edge_vectors(Owner("else"), SoulId(SOUL)) == []


async def test_a_vector_is_replaced_by_the_next_of_its_edge(store: Store) -> None:
    await store.commit(replace(full_change(), put_edge_vectors=[vector()]))
    again = replace(vector(), model="model@2", data=b"abc", weight=2.0)
    await store.commit(Change(OWNER, put_edge_vectors=[again]))
    assert await store.edge_vectors(OWNER, SoulId(SOUL)) == [again]


async def test_vectors_are_many_and_sorted_by_edge(store: Store) -> None:
    many = [vector(f"e{n:05}") for n in range(2_100)]
    await store.commit(replace(full_change(), put_edge_vectors=many[::-1]))
    assert await store.edge_vectors(OWNER, SoulId(SOUL)) == many


async def test_a_vector_goes_with_its_edge_and_with_either_end(store: Store) -> None:
    every = [
        vector("e1"),
        vector("e2", source="mem-2", target="mem-1"),
        vector("e3", source="mem-2", target="mem-3"),
        vector("e4", source="mem-3", target="mem-4"),
    ]
    await store.commit(replace(full_change(), put_edge_vectors=[*every, vector()]))
    await store.commit(Change(OWNER, drop_edges=[edge().id]))
    assert await stored(store) == ["e1", "e2", "e3", "e4"]
    await store.commit(Change(OWNER, drop_memories=[MemoryId("mem-1")]))
    assert await stored(store) == ["e3", "e4"]
    await store.commit(Change(OWNER, drop_edge_vectors=["e4", "unknown"]))
    assert await stored(store) == ["e3"]


async def test_a_vector_of_another_owner_stays(store: Store) -> None:
    """Though its memory has the same id."""
    other = replace(full_change(), owner=Owner("else"), put_edge_vectors=[vector()])
    await store.commit(full_change())
    await store.commit(other)
    await store.commit(Change(OWNER, drop_memories=[MemoryId("mem-1")]))
    assert await stored(store, owner=Owner("else")) == [edge().id]
