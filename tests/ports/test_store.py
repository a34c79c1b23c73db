"""What every store promises, fake and real alike."""

from __future__ import annotations

import asyncio
import gc
import itertools
import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from soulmem.domain.dialogue import Chat
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import StoreError
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.soul import Soul
from soulmem.ports.store import RANK_GAP, Change, ChatChange, RankedMessage, Store
from tests.ports.stores import (
    CHAT,
    KINDS,
    NOON,
    OWNER,
    SERVER,
    SOUL,
    STRANGE,
    WS_VARIABLE,
    Factory,
    chat,
    edge,
    factory,
    full_change,
    memory,
    message,
    snapshot,
    soul,
    without_context,
)

OTHER = Owner("somebody-else")


@pytest.fixture(scope="module", autouse=True)
def quiet_collector() -> Iterator[None]:
    """Keep what the test run has loaded out of the garbage collector's rounds, which block the loop."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(params=KINDS)
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Factory]:
    """Gives handles on one store."""
    async with factory(request.param, tmp_path) as made:
        yield made


@pytest.fixture
async def store(make: Factory) -> AsyncIterator[Store]:
    """An open, empty store."""
    opened = make()
    await opened.open()
    yield opened
    await opened.close()


def default_of(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def unset_fields(value: object, path: str) -> list[str]:
    """Fields of a value, and of what is inside it, that hold their default."""
    found: list[str] = []
    if is_dataclass(value):
        for field in fields(value):
            inner = getattr(value, field.name)
            if inner == default_of(field):
                found.append(f"{path}.{field.name}")
            found += unset_fields(inner, f"{path}.{field.name}")
    return found


@pytest.mark.parametrize(
    "value", [soul(), chat(), message(1), memory(), edge()], ids=lambda v: type(v).__name__
)
def test_the_sample_values_leave_no_field_at_its_default(value: object) -> None:
    """A field that is added to the domain and forgotten by a store must show in the tests below."""
    assert unset_fields(value, type(value).__name__) == []


def test_a_real_server_takes_part() -> None:
    if not SERVER:
        pytest.skip(
            f"{WS_VARIABLE} names no SurrealDB server (ws://host:port; {WS_VARIABLE}_USER, _PASSWORD)"
        )
    assert "ws server" in KINDS


async def test_a_fresh_store_is_empty(store: Store) -> None:
    assert await store.owners() == []
    assert await store.souls(OWNER) == []
    assert await store.chats(OWNER) == []
    assert await store.messages(OWNER, CHAT) == []
    graph = await store.graph(OWNER, SOUL)
    assert (list(graph.memories), list(graph.edges)) == ([], [])
    assert await store.vectors("model", ["a"]) == {}
    assert await store.vector_keys() == []
    assert store.health().writable


async def test_every_field_comes_back(store: Store) -> None:
    await store.commit(full_change())

    assert await store.owners() == [OWNER]
    assert await snapshot(store) == {
        "souls": [soul()],
        "chats": [chat()],
        "messages": [[message(1), message(2)]],
        "memories": [[memory("mem-1"), memory("mem-2")]],
        "edges": [[edge()]],
    }


async def test_the_smallest_values_come_back(store: Store) -> None:
    bare = Soul(SoulId("s"), "")
    talk = Chat(ChatId("c"), ())
    said = RankedMessage(
        0, replace(message(1).message, sent_at=None, story_at=None, present=None, speaker="")
    )
    nobody = RankedMessage(-5, replace(message(2).message, present=()))
    fact = without_context(memory("m", of="s"))
    link = replace(edge("m", "m", of="s"), verb=None, probability=None)
    await store.commit(
        Change(
            OWNER,
            souls=[bare],
            chats=[ChatChange(talk, [said, nobody])],
            put_memories=[fact],
            put_edges=[link],
        )
    )

    assert await snapshot(store) == {
        "souls": [bare],
        "chats": [talk],
        "messages": [[nobody, said]],
        "memories": [[fact]],
        "edges": [[link]],
    }


async def test_times_come_back_aware_and_exact(store: Store) -> None:
    await store.commit(full_change())

    for when in (
        (await store.souls(OWNER))[0].created,
        (await store.messages(OWNER, CHAT))[0].message.sent_at,
    ):
        assert when == NOON
        assert when is not None
        assert when.utcoffset() is not None
    whole_second = datetime(1987, 6, 5, 4, 3, 2, tzinfo=timezone.utc)
    await store.commit(Change(OWNER, souls=[replace(soul(), created=whole_second)]))
    assert (await store.souls(OWNER))[0].created == whole_second


@pytest.mark.parametrize("text", STRANGE, ids=lambda text: ascii(text[:12]))
async def test_any_text_comes_back_unchanged(store: Store, text: str) -> None:
    said = message(1, text)
    named = replace(soul(), name=text, settings=replace(soul().settings, weights={text[:100]: 0.5}))
    kept = memory("mem-1", f"{text}!")
    talk = replace(chat(), title=text, persona=text)
    await store.commit(Change(OWNER, souls=[named], chats=[ChatChange(talk, [said])], put_memories=[kept]))

    assert await snapshot(store) == {
        "souls": [named],
        "chats": [talk],
        "messages": [[said]],
        "memories": [[kept]],
        "edges": [[]],
    }


async def test_an_owner_may_have_any_name(store: Store) -> None:
    odd = Owner("a'; DELETE soul; -- \x00 用户")
    await store.commit(full_change(odd))

    assert await store.owners() == [odd]
    assert (await snapshot(store, odd))["edges"] == [[edge()]]


async def test_the_same_change_twice_is_the_same_as_once(store: Store) -> None:
    await store.commit(full_change())
    once = await snapshot(store)
    await store.commit(full_change())

    assert await snapshot(store) == once


async def test_an_empty_change_changes_nothing(store: Store) -> None:
    await store.commit(Change(OWNER))

    assert await store.owners() == []


async def test_a_put_replaces_every_field(store: Store) -> None:
    await store.commit(full_change())
    bare_soul = Soul(SOUL, "new")
    bare_chat = Chat(CHAT, ())
    bare_message = replace(message(1, "new"), message=replace(message(1, "new").message, present=None))
    bare_memory = without_context(memory("mem-1", "new"))
    bare_edge = replace(edge(), probability=None, uses=13)
    await store.commit(
        Change(
            OWNER,
            souls=[bare_soul],
            chats=[ChatChange(bare_chat, [bare_message])],
            put_memories=[bare_memory],
            put_edges=[bare_edge],
        )
    )

    assert await snapshot(store) == {
        "souls": [bare_soul],
        "chats": [bare_chat],
        "messages": [[bare_message, message(2)]],
        "memories": [[bare_memory, memory("mem-2")]],
        "edges": [[bare_edge]],
    }


async def test_souls_and_chats_come_oldest_first(store: Store) -> None:
    ages = {"b": NOON.replace(hour=3), "a": NOON.replace(hour=2), "c": NOON.replace(hour=1)}
    await store.commit(
        Change(
            OWNER,
            souls=[replace(soul(key), created=born) for key, born in ages.items()],
            chats=[ChatChange(replace(chat(key), created=born)) for key, born in ages.items()],
        )
    )

    assert [one.id for one in await store.souls(OWNER)] == ["c", "a", "b"]
    assert [one.id for one in await store.chats(OWNER)] == ["c", "a", "b"]


async def test_messages_come_by_rank_whatever_their_slots(store: Store) -> None:
    ranks = [0, -1, 2**52, -(2**52), RANK_GAP, RANK_GAP + 1, 7]
    random.Random(1).shuffle(ranks)
    await store.commit(
        Change(OWNER, chats=[ChatChange(chat(), [message(n, rank=rank) for n, rank in enumerate(ranks)])])
    )

    assert [ranked.rank for ranked in await store.messages(OWNER, CHAT)] == sorted(ranks)


async def test_dropped_messages_go_and_unknown_slots_are_ignored(store: Store) -> None:
    await store.commit(full_change())
    await store.commit(Change(OWNER, chats=[ChatChange(chat(), drop=[SlotId("slot-1"), SlotId("never")])]))

    assert await store.messages(OWNER, CHAT) == [message(2)]


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
    assert after["edges"] == [[edge("mem-2", "mem-1")]]  # the other one went with the memory that was dropped


async def test_chats_keep_their_messages_apart(store: Store) -> None:
    keys = ("a", "a-", "a0", "aa", "b")
    await store.commit(
        Change(OWNER, chats=[ChatChange(chat(key), [message(n)]) for n, key in enumerate(keys)])
    )
    await store.commit(
        Change(OWNER, chats=[ChatChange(chat("a"), drop=[SlotId(f"slot-{n}") for n in range(5)])])
    )

    found = [[ranked.message.slot for ranked in await store.messages(OWNER, ChatId(key))] for key in keys]
    assert found == [[], ["slot-1"], ["slot-2"], ["slot-3"], ["slot-4"]]


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

    assert sorted(one.id for one in graph.memories) == ["b", "c"]
    assert list(graph.edges) == [edge("b", "c")]


async def test_dropped_edges_go_and_their_memories_stay(store: Store) -> None:
    await store.commit(full_change())
    await store.commit(Change(OWNER, drop_edges=[edge().id, "unknown"]))
    graph = await store.graph(OWNER, SOUL)

    assert len(graph.memories) == 2
    assert list(graph.edges) == []


async def test_parallel_edges_of_different_kinds_and_verbs_are_kept(store: Store) -> None:
    parallel = [
        edge(),
        edge(kind=EdgeKind.ASSOCIATES),
        replace(edge(), verb="closes"),
        edge("mem-2", "mem-1"),
    ]
    await store.commit(Change(OWNER, put_memories=[memory("mem-1"), memory("mem-2")], put_edges=parallel))

    found = (await store.graph(OWNER, SOUL)).edges
    assert {one.id for one in found} == {one.id for one in parallel}
    assert len(found) == 4


@pytest.mark.parametrize(("source", "target"), [("mem-1", "ghost"), ("ghost", "mem-1"), ("ghost", "ghost")])
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


async def test_an_edge_to_a_memory_dropped_in_the_same_change_is_refused(store: Store) -> None:
    await store.commit(full_change())

    with pytest.raises(StoreError):
        await store.commit(Change(OWNER, drop_memories=[MemoryId("mem-2")], put_edges=[edge()]))

    assert (await snapshot(store))["edges"] == [[edge()]]


async def test_owners_never_meet(store: Store) -> None:
    await store.commit(full_change())
    theirs = replace(full_change(OTHER), put_memories=[memory("mem-1", "theirs"), memory("mem-2", "theirs")])
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
            put_memories=[memory("m1", of="a"), memory("m2", of="a"), memory("m3", of="a-")],
            put_edges=[edge("m1", "m2", of="a")],
        )
    )

    assert [one.id for one in (await store.graph(OWNER, SoulId("a-"))).memories] == ["m3"]
    assert list((await store.graph(OWNER, SoulId("a-"))).edges) == []
    assert len((await store.graph(OWNER, SoulId("a"))).memories) == 2
    assert len((await store.graph(OWNER, SoulId("a"))).edges) == 1


async def test_more_rows_than_one_call_reads_or_writes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("soulmem.adapters.surreal.store.READ_ROWS", 20)
    monkeypatch.setattr("soulmem.adapters.surreal.store.WRITE_ROWS", 7)
    line = [memory(f"m{n:03}") for n in range(60)]  # a multiple of what is read: the last page is empty
    links = [edge(one.id, two.id) for one, two in itertools.pairwise(line)]
    said = [message(n) for n in range(60)]
    vectors = {f"k{n}": bytes([n]) * 4 for n in range(60)}
    await store.commit(
        Change(OWNER, souls=[soul()], chats=[ChatChange(chat(), said)], put_memories=line, put_edges=links)
    )
    await store.put_vectors("model", vectors)

    graph = await store.graph(OWNER, SOUL)
    assert sorted(graph.memories, key=lambda one: one.id) == line
    assert sorted(graph.edges, key=lambda one: one.source) == links
    assert await store.messages(OWNER, CHAT) == said
    assert sorted(await store.vector_keys()) == sorted(("model", key) for key in vectors)
    assert await store.vectors("model", list(vectors)) == vectors
    await store.commit(
        Change(
            OWNER,
            chats=[ChatChange(chat(), drop=[one.message.slot for one in said[:30]])],
            drop_memories=[one.id for one in line[:30]],
            drop_edges=[one.id for one in links[40:]],
        )
    )
    assert (await snapshot(store))["messages"] == [said[30:]]
    assert (await snapshot(store))["memories"] == [line[30:]]
    assert sorted((await store.graph(OWNER, SOUL)).edges, key=lambda one: one.source) == links[30:40]
    await store.drop_vectors([("model", key) for key in list(vectors)[:30]])
    assert len(await store.vector_keys()) == 30


async def test_vectors_are_kept_by_model_and_key(store: Store) -> None:
    await store.put_vectors("e5/small", {"k1": b"\x00\x01\x02\xff", "k2": b""})
    await store.put_vectors("other", {"k1": b"else"})
    await store.put_vectors("e5/small", {"k1": b"\x00new"})

    assert await store.vectors("e5/small", ["k1", "k2", "k3"]) == {"k1": b"\x00new", "k2": b""}
    assert await store.vectors("unknown", ["k1"]) == {}
    assert await store.vectors("e5/small", []) == {}
    assert sorted(await store.vector_keys()) == [("e5/small", "k1"), ("e5/small", "k2"), ("other", "k1")]
    await store.drop_vectors([("e5/small", "k1"), ("other", "unknown"), ("never", "k1")])
    assert sorted(await store.vector_keys()) == [("e5/small", "k2"), ("other", "k1")]


async def test_concurrent_callers_lose_nothing(store: Store) -> None:
    async def writer(number: int) -> None:
        for step in range(5):
            key = f"m{number}-{step}"
            await store.commit(
                Change(
                    OWNER,
                    chats=[ChatChange(chat(), [message(number * 10 + step)])],
                    put_memories=[memory(key)],
                )
            )
            assert any(one.id == key for one in (await store.graph(OWNER, SOUL)).memories)

    await asyncio.gather(*(writer(number) for number in range(8)))

    assert len((await store.graph(OWNER, SOUL)).memories) == 40
    assert len(await store.messages(OWNER, CHAT)) == 40


async def test_a_cancelled_commit_is_stored_whole_or_not_at_all(store: Store) -> None:
    for number in range(20):
        task = asyncio.ensure_future(
            store.commit(
                Change(
                    OWNER, chats=[ChatChange(chat(), [message(number)])], put_memories=[memory(f"m{number}")]
                )
            )
        )
        for _ in range(number):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    kept = {one.id for one in (await store.graph(OWNER, SOUL)).memories}
    said = {ranked.message.slot for ranked in await store.messages(OWNER, CHAT)}

    assert {key.removeprefix("m") for key in kept} == {slot.removeprefix("slot-") for slot in said}
    await store.commit(Change(OWNER, put_memories=[memory("last")]))
    assert "last" in {one.id for one in (await store.graph(OWNER, SOUL)).memories}


async def test_housekeeping_changes_nothing(store: Store) -> None:
    await store.commit(full_change())
    before = await snapshot(store)
    await store.maintain()

    assert await snapshot(store) == before


async def test_a_closed_store_says_so_and_closes_twice(make: Factory) -> None:
    store = make()
    with pytest.raises(StoreError, match="not open"):
        await store.souls(OWNER)
    await store.open()
    await store.commit(full_change())
    await store.close()
    await store.close()

    with pytest.raises(StoreError, match="not open"):
        await store.commit(full_change())


@pytest.fixture(params=[kind for kind in KINDS if kind != "mem"])
async def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Factory]:
    """Gives handles on one store that outlives them."""
    async with factory(request.param, tmp_path) as made:
        yield made


async def test_reopening_keeps_everything(lasting: Factory) -> None:
    first = lasting()
    await first.open()
    await first.commit(full_change())
    await first.put_vectors("model", {"k": b"1234"})
    before = await snapshot(first)
    await first.close()

    second = lasting()
    await second.open()
    assert await snapshot(second) == before
    assert await second.vectors("model", ["k"]) == {"k": b"1234"}
    await second.close()
