"""Do memories that take less room stay what they are, whatever is put, dropped, linked or broken off?"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.errors import StoreError
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory
from soulmem.ports.store import Change
from tests.adapters.surreal_tools import opened
from tests.adapters.test_surreal_upkeep import raw
from tests.ports.stores import OWNER, SOUL, edge, memory, soul

OTHER = SoulId("other")


async def stored(store: SurrealStore) -> dict[MemoryId, Memory]:
    """All memories by id; none is there twice."""
    memories = await store.memories(OWNER, SOUL)
    by_id = {memory.id: memory for memory in memories}
    assert len(by_id) == len(memories)
    return by_id


async def shelf_rows(url: str) -> dict[str, int]:
    """The bytes of the rows on the shelf by name, in order."""
    async with raw(url) as run:
        (rows,) = await run("SELECT VALUE [record::id(id)[2], data] FROM shelf;")
        return {name: len(data) for name, data in rows}


def texts(count: int) -> list[Memory]:
    return [memory(f"mem-{n}", f"Mia: {n} boats came to the quay.") for n in range(count)]


async def test_shelved_memories_share_blocks_and_take_a_tenth_of_the_room(
    url: str,
) -> None:
    memories = texts(300)
    async with opened(url) as store:
        await store.commit(Change(OWNER, souls=[soul()], put_memories=memories))
        await store.shelve(OWNER, SOUL, [m.id for m in memories])
        assert await stored(store) == {m.id: m for m in memories}
    rows = await shelf_rows(url)
    assert len(rows) == 2
    assert sum(rows.values()) < 40 * len(memories)
    async with raw(url) as run:
        assert await run("SELECT * FROM memory;") == [[]]


async def test_a_small_last_block_is_filled_up(url: str) -> None:
    memories = texts(40)
    async with opened(url) as store:
        await store.commit(Change(OWNER, souls=[soul()], put_memories=memories))
        for start in range(0, 40, 10):
            await store.shelve(OWNER, SOUL, [m.id for m in memories[start : start + 10]])
    assert len(await shelf_rows(url)) == 1
    async with opened(url) as store:
        assert await stored(store) == {m.id: m for m in memories}


async def test_a_memory_with_an_edge_is_not_shelved(url: str) -> None:
    memories = texts(3)
    async with opened(url) as store:
        link = edge("mem-0", "mem-1")
        change = Change(OWNER, souls=[soul()], put_memories=memories, put_edges=[link])
        await store.commit(change)
        await store.shelve(OWNER, SOUL, [m.id for m in memories])
        assert (await store.graph(OWNER, SOUL)).edges == [link]
        assert await stored(store) == {m.id: m for m in memories}
    async with raw(url) as run:
        (keys,) = await run("SELECT VALUE key FROM memory;")
        assert sorted(keys) == ["mem-0", "mem-1"]


async def test_a_shelved_memory_that_gets_an_edge_leaves_the_shelf(url: str) -> None:
    memories = texts(5)
    async with opened(url) as store:
        await store.commit(Change(OWNER, souls=[soul()], put_memories=memories))
        await store.shelve(OWNER, SOUL, [m.id for m in memories])
    async with opened(url) as store:  # which has not read the shelf before
        link = edge("mem-1", "mem-3")
        await store.commit(Change(OWNER, put_edges=[link]))
        assert (await store.graph(OWNER, SOUL)).edges == [link]
        assert await stored(store) == {m.id: m for m in memories}


async def test_a_change_of_one_soul_does_not_read_the_shelves_of_others(
    url: str,
) -> None:
    here, there = memory("here"), replace(memory("there"), soul=OTHER)
    async with opened(url) as store:
        souls = [soul(), soul(OTHER)]
        await store.commit(Change(OWNER, souls=souls, put_memories=[here, there]))
        await store.shelve(OWNER, SOUL, [here.id])
        await store.shelve(OWNER, OTHER, [there.id])
    async with opened(url) as store:
        await store.commit(Change(OWNER, put_memories=[replace(here, revision=5)]))
        assert store._shelves._shelves[OWNER, OTHER] is None
        await store.commit(Change(OWNER, drop_memories=[there.id]))
        assert await stored(store) == {here.id: replace(here, revision=5)}
        assert await store.memories(OWNER, OTHER) == []


async def test_a_change_that_is_refused_leaves_the_shelf_as_it_is(url: str) -> None:
    memories = texts(4)
    async with opened(url) as store:
        await store.commit(Change(OWNER, souls=[soul()], put_memories=memories))
        await store.shelve(OWNER, SOUL, [m.id for m in memories])
        before = await stored(store)
        bad = Change(
            OWNER,
            put_memories=[replace(memories[0], revision=5)],
            put_edges=[edge("mem-2", "nobody")],
        )
        with pytest.raises(StoreError):
            await store.commit(bad)
        assert await stored(store) == before
        await store.commit(replace(bad, put_edges=[]))
        assert (await stored(store))[memories[0].id].revision == 5
        assert len(await stored(store)) == 4


async def test_any_order_of_changes_leaves_what_a_plain_store_would_hold(
    url: str,
) -> None:
    rng, expected = random.Random(7), dict[MemoryId, Memory]()
    edges: dict[str, Any] = {}
    for _ in range(4):
        async with opened(url) as store:
            await store.commit(Change(OWNER, souls=[soul()]))
            for _ in range(20):
                await changed(store, rng, expected, edges)
            assert await stored(store) == expected
            graph = await store.graph(OWNER, SOUL)
            assert {link.id: link for link in graph.edges} == edges


async def changed(
    store: SurrealStore,
    rng: random.Random,
    expected: dict[MemoryId, Memory],
    edges: dict[str, Any],
) -> None:
    """One change by chance, in the store and in what is expected of it."""
    keys = sorted(expected)
    kind = rng.choice(["put", "put", "drop", "shelve", "shelve", "link"])
    if kind == "put":
        some = [memory(f"mem-{rng.randrange(80)}", f"text {rng.random()}") for _ in range(9)]
        put = {m.id: m for m in some}
        await store.commit(Change(OWNER, put_memories=list(put.values())))
        expected |= put
    elif kind == "shelve":
        await store.shelve(OWNER, SOUL, [key for key in keys if rng.random() < 0.5])
    elif kind == "drop" and keys:
        dropped = rng.sample(keys, min(5, len(keys)))
        cut = [k for k, e in edges.items() if {e.source, e.target} & {*dropped}]
        await store.commit(Change(OWNER, drop_memories=dropped, drop_edges=cut))
        for memory_id in dropped:
            del expected[memory_id]
        for key in cut:
            del edges[key]
    elif kind == "link" and len(keys) > 1:
        source, target = rng.sample(keys, 2)
        link = edge(source, target)
        await store.commit(Change(OWNER, put_edges=[link]))
        edges[link.id] = link
