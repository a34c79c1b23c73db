"""A mark stands for a soul's memory: later commits list what they change of it, or delete the mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

import pytest

from soulmem.domain.errors import StoreError
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.ports.store import Change, ChatChange, Mark, Store
from tests.ports.stores import (
    OWNER,
    SOUL,
    Factory,
    chat,
    edge,
    full_change,
    memory,
    message,
    recall,
    soul,
    usage,
)

OTHER = SoulId("soul-2")
LATE = frozenset({MemoryId("late")})


@pytest.fixture
def lists(request: pytest.FixtureRequest) -> bool:
    """Whether the store lists changes. On a server, where others write too, a commit deletes the owner's marks."""
    return bool(request.node.callspec.params["make"] != "ws server")


async def marked(store: Store) -> Store:
    """The store with something of two souls, each with a mark."""
    await store.commit(full_change())
    await store.commit(Change(OWNER, souls=[soul(OTHER)], put_memories=[memory("other", of=OTHER)]))
    await store.mark(OWNER, SoulId(SOUL), "one")
    await store.mark(OWNER, OTHER, "two")
    return store


async def marks(store: Store) -> tuple[Mark | None, Mark | None]:
    """Those of the two."""
    return await store.marked(OWNER, SoulId(SOUL)), await store.marked(OWNER, OTHER)


async def test_without_a_mark_there_is_none(store: Store) -> None:
    await store.commit(full_change())
    assert await store.marked(OWNER, SoulId(SOUL)) is None


async def test_a_mark_and_its_list_outlive_the_handle(make: Factory, lists: bool) -> None:
    store = await _opened(make)
    await marked(store)
    await store.mark(OWNER, OTHER, "three")
    await store.close()
    store = await _opened(make)
    assert await marks(store) == (Mark("one"), Mark("three"))
    assert await store.marked(Owner("somebody"), OTHER) is None
    for key in ("late", "later"):
        put = [memory(key, of=OTHER)]
        await store.commit(Change(OWNER, put_memories=put))
        await store.close()
        store = await _opened(make)
    later = Mark("three", put=LATE | {MemoryId("later")})
    assert await marks(store) == ((Mark("one"), later) if lists else (None, None))
    await store.mark(OWNER, OTHER, "four")
    assert await store.marked(OWNER, OTHER) == Mark("four")
    await store.close()


CHANGES: Mapping[str, tuple[Callable[[], Change], Mark]] = {
    "a chat it is in": (
        lambda: Change(OWNER, chats=[ChatChange(replace(chat(), title="Later"))]),
        Mark("one", chats=frozenset({chat().id})),
    ),
    "a message": (
        lambda: Change(OWNER, chats=[ChatChange(chat(), [message(99)])]),
        Mark("one", chats=frozenset({chat().id})),
    ),
    "a memory": (
        lambda: Change(OWNER, put_memories=[memory("late")]),
        Mark("one", put=LATE),
    ),
    "an edge": (
        lambda: Change(OWNER, put_edges=[edge()]),
        Mark("one", edges=frozenset({edge().id})),
    ),
    "a usage": (lambda: Change(OWNER, put_usages=[usage()]), Mark("one")),
    "a recall": (lambda: Change(OWNER, put_recalls=[recall()]), Mark("one")),
    "a memory that goes": (
        lambda: Change(OWNER, drop_memories=[MemoryId("late")]),
        Mark("one", dropped=LATE),
    ),
    "an edge that goes": (
        lambda: Change(OWNER, drop_edges=[edge().id]),
        Mark("one", edges=frozenset({edge().id})),
    ),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_what_is_written_of_a_soul_is_listed(store: Store, what: str, lists: bool) -> None:
    change, expected = CHANGES[what]
    await marked(store)
    await store.commit(change())
    assert (await marks(store))[0] == (expected if lists else None)


async def test_a_commit_that_writes_the_soul_takes_its_mark(store: Store, lists: bool) -> None:
    await marked(store)
    await store.commit(Change(OWNER, put_memories=[memory("late")]))
    await store.commit(Change(OWNER, souls=[replace(soul(), name="Another")]))
    assert await marks(store) == (None, Mark("two") if lists else None)
    await store.mark(OWNER, SoulId(SOUL), "one")
    assert (await marks(store))[0] == Mark("one")


async def test_what_goes_by_its_id_alone_is_listed_for_every_soul_of_the_owner(
    store: Store, lists: bool
) -> None:
    await marked(store)
    await store.commit(Change(OWNER, drop_memories=[MemoryId("other")]))
    gone = frozenset({MemoryId("other")})
    both = (Mark("one", dropped=gone), Mark("two", dropped=gone))
    assert await marks(store) == (both if lists else (None, None))


async def test_another_owner_changes_none(store: Store) -> None:
    await marked(store)
    await store.commit(Change(Owner("somebody"), souls=[soul()], drop_memories=[MemoryId("other")]))
    assert await marks(store) == (Mark("one"), Mark("two"))


async def test_a_commit_that_fails_lists_nothing(store: Store, lists: bool) -> None:
    await marked(store)
    with pytest.raises(StoreError):
        await store.commit(Change(OWNER, put_edges=[edge(source="nobody")]))
    assert await marks(store) == (Mark("one"), Mark("two"))
    await store.commit(Change(OWNER, put_memories=[memory("late")]))
    assert (await marks(store))[0] == (Mark("one", put=LATE) if lists else None)


async def test_a_mark_put_anew_begins_anew(store: Store, lists: bool) -> None:
    await marked(store)
    for number in range(3):
        await store.commit(Change(OWNER, put_memories=[memory("late")]))
        mark = (await marks(store))[0]
        assert mark is None if not lists else mark is not None and mark.put == LATE
        await store.mark(OWNER, SoulId(SOUL), f"again {number}")
        assert (await marks(store))[0] == Mark(f"again {number}")


async def test_a_list_that_is_too_long_takes_the_mark(store: Store, lists: bool) -> None:
    if not lists:
        return  # every commit does
    await marked(store)
    for first in (0, 11_000):
        assert None not in await marks(store)
        ids = [MemoryId(f"unknown {first + number}") for number in range(11_000)]
        await store.commit(Change(OWNER, drop_memories=ids))
    assert await marks(store) == (None, None)


async def test_some_memories_and_edges_are_read_by_their_ids(store: Store) -> None:
    await marked(store)
    await store.commit(Change(OWNER, put_memories=[memory("late")]))
    await store.shelve(OWNER, SoulId(SOUL), [MemoryId("late")])
    every = await store.graph(OWNER, SoulId(SOUL))
    wanted = [every.memories[0].id, MemoryId("late"), MemoryId("other"), MemoryId("no")]
    some = await store.some_memories(OWNER, SoulId(SOUL), wanted)
    known = {memory.id: memory for memory in every.memories}
    assert sorted(m.id for m in some) == sorted(wanted[:2])
    assert all(asdict(known[m.id]) == asdict(m) for m in some)
    first = every.edges[0]
    page = await store.some_edges(OWNER, SoulId(SOUL), [first.id, "no"])
    assert page.edges(SoulId(SOUL)) == [first]
    assert (await store.some_edges(OWNER, OTHER, [first.id])).edges(OTHER) == []
    assert await store.some_memories(OWNER, SoulId(SOUL), []) == []


async def _opened(make: Factory) -> Store:
    store = make()
    await store.open()
    return store
