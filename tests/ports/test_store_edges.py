"""What a store tells of a few edges when a soul has too many to read them all."""

from __future__ import annotations

import random

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.ports.store import Change, Store
from tests.fakes.store import page_of
from tests.ports.stores import OWNER, SOUL, edge, full_change, memory, soul

OTHER = SoulId("soul-2")


def keys(*names: str) -> list[MemoryId]:
    return [MemoryId(name) for name in names]


async def test_a_soul_without_edges_has_none(store: Store) -> None:
    assert await store.edge_count(OWNER) == await store.edge_count(OWNER, SOUL) == 0
    assert await store.edges_around(OWNER, SOUL, keys("mem-1")) == page_of([])
    assert await store.edges_known(OWNER, ["l1"]) == set()

    await store.commit(full_change())
    assert await store.edges_around(OWNER, SOUL, []) == page_of([])


async def test_an_edge_comes_whole(store: Store) -> None:
    await store.commit(full_change())

    for end in ("mem-1", "mem-2"):
        assert await store.edges_around(OWNER, SOUL, keys(end)) == page_of([edge()])


async def test_edges_around_memories_are_those_that_touch_any_of_them_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soulmem.adapters.surreal.store.READ_AROUND", 3)
    draw = random.Random(5)
    names = [f"m{n:02}" for n in range(25)]
    kinds = (EdgeKind.RELATES, EdgeKind.ASSOCIATES)
    links = {
        item.id: item
        for _ in range(120)
        for item in [
            edge(draw.choice(names), draw.choice(names), draw.choice(kinds))
        ]  # loops among them
    }
    await store.commit(
        Change(
            OWNER,
            [soul()],
            put_memories=[memory(n) for n in names],
            put_edges=[*links.values()],
        )
    )

    for count in (1, 4, 11):
        wanted = draw.sample(names, count)
        page = await store.edges_around(OWNER, SOUL, [*keys(*wanted), MemoryId("nobody")])
        expected = {key for key, item in links.items() if {item.source, item.target} & set(wanted)}
        assert sorted(page.id) == sorted(expected)
        page = await store.edges_around(OWNER, SOUL, keys(*wanted), leaving=True)
        assert sorted(page.id) == sorted(
            key for key, item in links.items() if item.source in wanted
        )
        counts = await store.edges_leaving(
            OWNER, SOUL, [*keys(*wanted), *keys(*wanted)], EdgeKind.RELATES
        )
        sources = [item.source for item in links.values() if item.kind is EdgeKind.RELATES]
        assert counts == {item: sources.count(MemoryId(item)) for item in wanted if item in sources}


async def test_souls_and_owners_count_their_own_edges(store: Store) -> None:
    somebody = Owner("somebody-else")
    await store.commit(full_change())
    await store.commit(full_change(somebody))
    names = [memory(n, of=OTHER) for n in ("a", "b", "c")]
    links = [
        edge("a", "b", of=OTHER),
        edge("b", "c", of=OTHER),
        edge("c", "a", of=OTHER),
    ]
    await store.commit(Change(OWNER, [soul(OTHER)], put_memories=names, put_edges=links))

    assert [await store.edge_count(OWNER, item) for item in (None, SOUL, OTHER)] == [
        4,
        1,
        3,
    ]
    assert await store.edge_count(somebody) == 1
    assert len((await store.edges_around(OWNER, SOUL, keys("mem-1", "a"))).id) == 1
    assert {item.id for item in await store.memories(OWNER, OTHER)} == {"a", "b", "c"}
    stored = await store.memory_count(OWNER)
    assert stored == len(await store.memories(OWNER, SOUL)) + 3

    await store.commit(Change(OWNER, drop_memories=keys("b")))
    assert await store.memory_count(OWNER) == stored - 1
    assert [await store.edge_count(OWNER, item) for item in (None, SOUL, OTHER)] == [
        2,
        1,
        1,
    ]
    assert list((await store.edges_around(OWNER, OTHER, keys("a", "b"))).id) == [links[2].id]


async def test_known_edges_are_told_from_unknown_ones(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soulmem.adapters.surreal.store.READ_ROWS", 2)
    await store.commit(full_change())
    links = [edge("mem-1", "mem-2", kind) for kind in (EdgeKind.ASSOCIATES, EdgeKind.TOPIC_OF)]
    await store.commit(Change(OWNER, put_edges=links))

    asked = [edge().id, "never", links[0].id, edge("mem-2", "mem-1").id, links[1].id]
    assert await store.edges_known(OWNER, asked) == {
        edge().id,
        links[0].id,
        links[1].id,
    }
    assert await store.edges_known(Owner("nobody"), asked) == set()
