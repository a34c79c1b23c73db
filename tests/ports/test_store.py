"""What a change does to a store, and to nothing else, fake and real alike."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import StoreError
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.ports.store import RANK_GAP, Change, ChatChange, Store
from tests.ports.stores import (
    CHAT,
    NOON,
    OWNER,
    SOUL,
    chat,
    edge,
    full_change,
    memory,
    message,
    snapshot,
    soul,
    vector_keys,
)
from tests.ports.wire import over_the_wire

OTHER = Owner("somebody-else")


async def test_a_fresh_store_is_empty(store: Store) -> None:
    assert await store.owners() == []
    assert await store.souls(OWNER) == []
    assert await store.chats(OWNER) == []
    assert await store.messages(OWNER, CHAT) == []
    graph = await store.graph(OWNER, SOUL)
    assert (list(graph.memories), list(graph.edges)) == ([], [])
    assert await store.vectors("model", ["a"]) == {}
    assert await vector_keys(store) == []
    assert store.health().writable


@over_the_wire
async def test_the_same_change_twice_is_the_same_as_once(store: Store) -> None:
    await store.commit(full_change())
    once = await snapshot(store)
    await store.commit(full_change())

    assert await snapshot(store) == once


async def test_an_empty_change_changes_nothing(store: Store) -> None:
    await store.commit(Change(OWNER))

    assert await store.owners() == []


async def test_souls_and_chats_come_oldest_first(store: Store) -> None:
    ages = {
        "b": NOON.replace(hour=3),
        "a": NOON.replace(hour=2),
        "c": NOON.replace(hour=1),
    }
    await store.commit(
        Change(
            OWNER,
            souls=[replace(soul(key), created=born) for key, born in ages.items()],
            chats=[ChatChange(replace(chat(key), created=born)) for key, born in ages.items()],
        )
    )

    assert [item.id for item in await store.souls(OWNER)] == ["c", "a", "b"]
    assert [item.id for item in await store.chats(OWNER)] == ["c", "a", "b"]


async def test_messages_come_by_rank_whatever_their_slots(store: Store) -> None:
    ranks = [0, -1, 2**52, -(2**52), RANK_GAP, RANK_GAP + 1, 7]
    random.Random(1).shuffle(ranks)
    await store.commit(
        Change(
            OWNER,
            chats=[ChatChange(chat(), [message(n, rank=rank) for n, rank in enumerate(ranks)])],
        )
    )

    assert [ranked.rank for ranked in await store.messages(OWNER, CHAT)] == sorted(ranks)
    assert await store.message_count(OWNER, CHAT) == len(ranks)
    assert await store.message_count(OTHER, CHAT) == 0
    assert await store.message_count(OWNER, ChatId("elsewhere")) == 0


async def test_dropped_messages_go_and_unknown_slots_are_ignored(store: Store) -> None:
    await store.commit(full_change())
    await store.commit(
        Change(OWNER, chats=[ChatChange(chat(), drop=[SlotId("slot-1"), SlotId("never")])])
    )

    assert await store.messages(OWNER, CHAT) == [message(2)]
    assert await store.message_count(OWNER, CHAT) == 1


async def test_what_is_dropped_and_put_in_one_change_is_there(store: Store) -> None:
    await store.commit(full_change())
    await store.commit(
        Change(
            OWNER,
            chats=[ChatChange(chat(), [message(1, "again")], drop=[SlotId("slot-1")])],
            put_memories=[memory("mem-1", "again")],
            drop_memories=[MemoryId("mem-1")],
            put_edges=[edge("mem-2", "mem-1")],
            drop_edges=[edge("mem-2", "mem-1").id],
        )
    )
    after = await snapshot(store)

    assert after["messages"] == [[message(1, "again"), message(2)]]
    assert after["memories"] == [[memory("mem-1", "again"), memory("mem-2")]]
    assert after["edges"] == [
        [edge("mem-2", "mem-1")]
    ]  # the other one went with the memory that was dropped


async def test_chats_keep_their_messages_apart(store: Store) -> None:
    keys = ("a", "a-", "a0", "aa", "b")
    await store.commit(
        Change(
            OWNER,
            chats=[ChatChange(chat(key), [message(n)]) for n, key in enumerate(keys)],
        )
    )
    await store.commit(
        Change(
            OWNER,
            chats=[ChatChange(chat("a"), drop=[SlotId(f"slot-{n}") for n in range(5)])],
        )
    )

    stored = [
        [ranked.message.slot for ranked in await store.messages(OWNER, ChatId(key))] for key in keys
    ]
    assert stored == [[], ["slot-1"], ["slot-2"], ["slot-3"], ["slot-4"]]


async def test_edges_go_with_their_memories(store: Store) -> None:
    ring = ("a", "b", "c")
    await store.commit(
        Change(
            OWNER,
            souls=[soul()],
            put_memories=[memory(key) for key in ring],
            put_edges=[edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("a", "a")],
        )
    )
    await store.commit(Change(OWNER, drop_memories=[MemoryId("a"), MemoryId("unknown")]))
    graph = await store.graph(OWNER, SOUL)

    assert sorted(item.id for item in graph.memories) == ["b", "c"]
    assert list(graph.edges) == [edge("b", "c")]


async def test_dropped_edges_go_and_their_memories_stay(store: Store) -> None:
    await store.commit(full_change())
    await store.commit(Change(OWNER, drop_edges=[edge().id, "unknown"]))
    graph = await store.graph(OWNER, SOUL)

    assert len(graph.memories) == 2
    assert list(graph.edges) == []


async def test_parallel_edges_of_different_kinds_and_verbs_are_kept(
    store: Store,
) -> None:
    parallel = [
        edge(),
        edge(kind=EdgeKind.ASSOCIATES),
        replace(edge(), verb="closes"),
        edge("mem-2", "mem-1"),
    ]
    await store.commit(
        Change(OWNER, put_memories=[memory("mem-1"), memory("mem-2")], put_edges=parallel)
    )

    stored = (await store.graph(OWNER, SOUL)).edges
    assert {item.id for item in stored} == {item.id for item in parallel}
    assert len(stored) == 4


@pytest.mark.parametrize(
    ("source", "target"), [("mem-1", "ghost"), ("ghost", "mem-1"), ("ghost", "ghost")]
)
@over_the_wire
async def test_an_edge_without_its_ends_is_refused_with_the_whole_change(
    store: Store, source: str, target: str
) -> None:
    await store.commit(full_change())
    before = await snapshot(store)
    poisoned = Change(
        OWNER,
        souls=[soul("soul-2"), replace(soul(), name="changed")],
        chats=[ChatChange(chat(), [message(3)], drop=[SlotId("slot-1")])],
        put_memories=[memory("mem-3"), memory("mem-1", "changed")],
        drop_memories=[MemoryId("mem-2")],
        put_edges=[edge("mem-1", "mem-3"), edge(source, target)],
    )

    with pytest.raises(StoreError):
        await store.commit(poisoned)

    assert await snapshot(store) == before
    await store.commit(Change(OWNER, put_memories=[memory("mem-4")]))
    assert len((await store.graph(OWNER, SOUL)).memories) == 3


async def test_an_edge_to_a_memory_dropped_in_the_same_change_is_refused(
    store: Store,
) -> None:
    await store.commit(full_change())

    with pytest.raises(StoreError):
        await store.commit(Change(OWNER, drop_memories=[MemoryId("mem-2")], put_edges=[edge()]))

    assert (await snapshot(store))["edges"] == [[edge()]]


async def test_owners_never_meet(store: Store) -> None:
    await store.commit(full_change())
    theirs = replace(
        full_change(OTHER),
        put_memories=[memory("mem-1", "theirs"), memory("mem-2", "theirs")],
    )
    await store.commit(theirs)
    mine = await snapshot(store)

    assert mine["memories"] == [[memory("mem-1"), memory("mem-2")]]
    with pytest.raises(StoreError):
        await store.commit(Change(Owner("third"), put_edges=[edge()]))  # both ends are others'
    await store.commit(
        Change(
            OTHER,
            chats=[ChatChange(chat(), drop=[SlotId("slot-1"), SlotId("slot-2")])],
            drop_memories=[MemoryId("mem-1")],
        )
    )
    assert await snapshot(store) == mine
    assert (await snapshot(store, OTHER))["messages"] == [[]]
    assert await store.owners() == sorted([OWNER, OTHER])


async def test_souls_have_graphs_of_their_own(store: Store) -> None:
    await store.commit(
        Change(
            OWNER,
            souls=[soul("a"), soul("a-")],
            put_memories=[
                memory("m1", of="a"),
                memory("m2", of="a"),
                memory("m3", of="a-"),
            ],
            put_edges=[edge("m1", "m2", of="a")],
        )
    )

    assert [item.id for item in (await store.graph(OWNER, SoulId("a-"))).memories] == ["m3"]
    assert list((await store.graph(OWNER, SoulId("a-"))).edges) == []
    assert len((await store.graph(OWNER, SoulId("a"))).memories) == 2
    assert len((await store.graph(OWNER, SoulId("a"))).edges) == 1


@over_the_wire
async def test_more_rows_than_one_call_reads_or_writes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soulmem.adapters.surreal.store.READ_ROWS", 20)
    monkeypatch.setattr("soulmem.adapters.surreal.transaction.WRITE_ROWS", 7)
    line = [
        memory(f"m{n:03}") for n in range(60)
    ]  # a multiple of what is read: the last page is empty
    links = [edge(item.id, two.id) for item, two in itertools.pairwise(line)]
    text = [message(n) for n in range(60)]
    vectors = {f"k{n}": bytes([n]) * 4 for n in range(60)}
    await store.commit(
        Change(
            OWNER,
            souls=[soul()],
            chats=[ChatChange(chat(), text)],
            put_memories=line,
            put_edges=links,
        )
    )
    await store.put_vectors("model", vectors)

    graph = await store.graph(OWNER, SOUL)
    assert sorted(graph.memories, key=lambda item: item.id) == line
    assert sorted(graph.edges, key=lambda item: item.source) == links
    assert await store.messages(OWNER, CHAT) == text
    assert sorted(await vector_keys(store)) == sorted(("model", key) for key in vectors)
    assert await store.vectors("model", list(vectors)) == vectors
    await store.commit(
        Change(
            OWNER,
            chats=[ChatChange(chat(), drop=[item.message.slot for item in text[:30]])],
            drop_memories=[item.id for item in line[:30]],
            drop_edges=[item.id for item in links[40:]],
        )
    )
    assert (await snapshot(store))["messages"] == [text[30:]]
    assert (await snapshot(store))["memories"] == [line[30:]]
    assert (
        sorted((await store.graph(OWNER, SOUL)).edges, key=lambda item: item.source) == links[30:40]
    )
    await store.drop_vectors([("model", key) for key in list(vectors)[:30]])
    assert len(await vector_keys(store)) == 30


@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 100])
async def test_pages_hold_each_row_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """And none of another soul."""
    monkeypatch.setattr("soulmem.adapters.surreal.store.READ_ROWS", 20)
    line = [memory(f"m{n:03}") for n in range(count)]
    links = [edge(item.id, item.id) for item in line]
    others = [memory("a", of="other"), memory("n", of="other")]
    await store.commit(
        Change(
            OWNER,
            put_memories=[*line, *others],
            put_edges=[*links, edge("a", "n", of="other")],
        )
    )
    memories = [page async for page in store.memory_pages(OWNER, SOUL)]
    edges = [page async for page in store.edge_pages(OWNER, SOUL)]
    assert all(memories)
    assert all(page.id for page in edges)
    assert sorted((item for page in memories for item in page), key=lambda item: item.id) == line
    assert sorted(key for page in edges for key in page.id) == sorted(item.id for item in links)
    assert sorted(key for page in edges for key in page.target) == [item.id for item in line]


@over_the_wire
async def test_a_page_that_nobody_waits_for_does_not_keep_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soulmem.adapters.surreal.store.READ_ROWS", 20)
    await store.commit(Change(OWNER, put_memories=[memory(f"m{n:03}") for n in range(100)]))
    async for page in store.memory_pages(OWNER, SOUL):
        assert page
        break
    await store.commit(Change(OWNER, put_memories=[memory("later")]))
    assert len(await store.memories(OWNER, SOUL)) == 101
