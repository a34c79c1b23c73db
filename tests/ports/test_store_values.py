"""Whatever is put into a store comes back equal, fake and real alike."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass, replace
from datetime import datetime, timezone
from typing import Any

import pytest

from soulmem.domain.dialogue import Chat
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.soul import Soul
from soulmem.ports.store import Change, ChatChange, RankedMessage, Store
from tests.ports.stores import (
    CHAT,
    NOON,
    OWNER,
    SOUL,
    STRANGE,
    chat,
    edge,
    full_change,
    memory,
    message,
    recall,
    snapshot,
    soul,
    usage,
    vector_keys,
    without_context,
)
from tests.ports.wire import over_the_wire


def default_of(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


# Worked out anew from what is stored.
DERIVED = {"left_out"}


def unset_fields(value: object, path: str) -> list[str]:
    """Fields of a value, and of what is inside it, that hold their default."""
    fields_found: list[str] = []
    if is_dataclass(value):
        for field in fields(value):
            inner = getattr(value, field.name)
            if inner == default_of(field) and field.name not in DERIVED:
                fields_found.append(f"{path}.{field.name}")
            fields_found += unset_fields(inner, f"{path}.{field.name}")
    return fields_found


@pytest.mark.parametrize(
    "value",
    [
        soul(),
        chat(),
        message(1),
        replace(memory(), permanent=True, locked=True),
        edge(),
    ],
    ids=lambda v: type(v).__name__,
)
def test_the_sample_values_leave_no_field_at_its_default(value: object) -> None:
    """A field that is added to the domain and forgotten by a store must show in the tests below."""
    assert unset_fields(value, type(value).__name__) == []


@over_the_wire
async def test_every_field_comes_back(store: Store) -> None:
    await store.commit(full_change())

    assert await store.owners() == [OWNER]
    assert await snapshot(store) == {
        "souls": [soul()],
        "chats": [chat()],
        "messages": [[message(1), message(2)]],
        "memories": [[memory("mem-1"), memory("mem-2")]],
        "edges": [[edge()]],
        "usages": [[usage()]],
        "recalls": [[recall()]],
    }


@over_the_wire
async def test_the_smallest_values_come_back(store: Store) -> None:
    bare = Soul(SoulId("s"), "B")
    talk = Chat(ChatId("c"), ())
    text = RankedMessage(
        0,
        replace(message(1).message, sent_at=None, story_at=None, present=None, speaker=""),
    )
    nobody = RankedMessage(-5, replace(message(2).message, present=()))
    fact = without_context(memory("m", of="s"))
    link = replace(edge("m", "m", of="s"), verb=None, probability=None, at_turn=None)
    await store.commit(
        Change(
            OWNER,
            souls=[bare],
            chats=[ChatChange(talk, [text, nobody])],
            put_memories=[fact],
            put_edges=[link],
        )
    )

    assert await snapshot(store) == {
        "souls": [bare],
        "chats": [talk],
        "messages": [[nobody, text]],
        "memories": [[fact]],
        "edges": [[link]],
        "usages": [[]],
        "recalls": [[]],
    }


@over_the_wire
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


@over_the_wire
async def test_any_text_comes_back_unchanged(store: Store) -> None:
    for text in STRANGE:
        body = message(1, text)
        settings = replace(soul().settings, weights={text[:100]: 0.5})
        named = replace(soul(), name=text, settings=settings)
        kept = memory("mem-1", f"{text}!")
        talk = replace(chat(), title=text, persona=text)
        talked = ChatChange(talk, [body])
        await store.commit(Change(OWNER, souls=[named], chats=[talked], put_memories=[kept]))

        assert await snapshot(store) == {
            "souls": [named],
            "chats": [talk],
            "messages": [[body]],
            "memories": [[kept]],
            "edges": [[]],
            "usages": [[]],
            "recalls": [[]],
        }


@over_the_wire
async def test_an_owner_may_have_any_name(store: Store) -> None:
    odd = Owner("a'; DELETE soul; -- \x00 用户")
    await store.commit(full_change(odd))

    assert await store.owners() == [odd]
    assert (await snapshot(store, odd))["edges"] == [[edge()]]


async def test_a_put_replaces_every_field(store: Store) -> None:
    await store.commit(full_change())
    bare_soul = Soul(SOUL, "new")
    bare_chat = Chat(CHAT, ())
    bare_message = replace(
        message(1, "new"), message=replace(message(1, "new").message, present=None)
    )
    bare_memory = without_context(memory("mem-1", "new"))
    bare_edge = replace(edge(), probability=None, at_turn=None, made=None, uses=13)
    bare_usage = usage(recalls=1)
    bare_recall = replace(recall(), swipe=0, trails=())
    await store.commit(
        Change(
            OWNER,
            souls=[bare_soul],
            chats=[ChatChange(bare_chat, [bare_message])],
            put_memories=[bare_memory],
            put_edges=[bare_edge],
            put_usages=[bare_usage],
            put_recalls=[bare_recall],
        )
    )

    assert await snapshot(store) == {
        "souls": [bare_soul],
        "chats": [bare_chat],
        "messages": [[bare_message, message(2)]],
        "memories": [[bare_memory, memory("mem-2")]],
        "edges": [[bare_edge]],
        "usages": [[bare_usage]],
        "recalls": [[bare_recall]],
    }


@over_the_wire
async def test_vectors_are_kept_by_model_and_key(store: Store) -> None:
    await store.put_vectors("e5/small", {"k1": b"\x00\x01\x02\xff", "k2": b""})
    await store.put_vectors("other", {"k1": b"else"})
    await store.put_vectors("e5/small", {"k1": b"\x00new"})

    assert await store.vectors("e5/small", ["k1", "k2", "k3"]) == {
        "k1": b"\x00new",
        "k2": b"",
    }
    assert await store.vectors("unknown", ["k1"]) == {}
    assert await store.vectors("e5/small", []) == {}
    assert sorted(await vector_keys(store)) == [
        ("e5/small", "k1"),
        ("e5/small", "k2"),
        ("other", "k1"),
    ]
    await store.drop_vectors([("e5/small", "k1"), ("other", "unknown"), ("never", "k1")])
    assert sorted(await vector_keys(store)) == [("e5/small", "k2"), ("other", "k1")]


async def test_shelved_memories_are_read_as_before(store: Store) -> None:
    memories = [memory(f"mem-{n}") for n in range(5)]
    await store.commit(Change(OWNER, souls=[soul()], put_memories=memories))
    await store.shelve(OWNER, SOUL, [m.id for m in memories[:3]])
    await store.shelve(OWNER, SOUL, [MemoryId("mem-99"), memories[0].id])

    read = await store.memories(OWNER, SOUL)
    assert sorted(read, key=lambda m: m.id) == memories
    assert len((await store.graph(OWNER, SOUL)).memories) == 5


async def test_a_shelved_memory_that_is_put_or_dropped_is_so(store: Store) -> None:
    memories = [memory(f"mem-{n}") for n in range(4)]
    await store.commit(Change(OWNER, souls=[soul()], put_memories=memories))
    await store.shelve(OWNER, SOUL, [m.id for m in memories[:3]])
    changed = replace(memories[0], revision=7)
    link = edge("mem-0", "mem-3")
    change = Change(OWNER, put_memories=[changed], drop_memories=[MemoryId("mem-1")])
    await store.commit(replace(change, put_edges=[link]))

    read = await store.memories(OWNER, SOUL)
    assert sorted(read, key=lambda m: m.id) == [changed, *memories[2:]]
    assert (await store.graph(OWNER, SOUL)).edges == [link]
