"""A mark stands for a soul's memory as it is stored, until a commit may have altered that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from soulmem.domain.errors import StoreError
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.ports.store import Change, ChatChange, Store
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


async def marked(store: Store) -> Store:
    """The store with something of two souls, each with a mark."""
    await store.commit(full_change())
    await store.commit(
        Change(OWNER, souls=[soul(OTHER)], put_memories=[memory("other", of=OTHER)])
    )
    await store.mark(OWNER, SoulId(SOUL), "one")
    await store.mark(OWNER, OTHER, "two")
    return store


async def marks(store: Store) -> tuple[str | None, str | None]:
    """Those of the two."""
    return await store.marked(OWNER, SoulId(SOUL)), await store.marked(OWNER, OTHER)


async def test_without_a_mark_there_is_none(store: Store) -> None:
    await store.commit(full_change())
    assert await store.marked(OWNER, SoulId(SOUL)) is None


async def test_a_mark_outlives_the_handle_and_can_be_replaced(make: Factory) -> None:
    store = await _opened(make)
    await marked(store)
    await store.mark(OWNER, OTHER, "three")
    await store.close()
    again = await _opened(make)
    assert await marks(again) == ("one", "three")
    assert await again.marked(Owner("somebody"), OTHER) is None
    await again.commit(Change(OWNER, put_memories=[memory("late", of=OTHER)]))
    assert await marks(again) in (
        ("one", None),
        (None, None),
    )  # on a server all of them go
    await again.close()


CHANGES: dict[str, Callable[[], Change]] = {
    "the soul": lambda: Change(OWNER, souls=[replace(soul(), name="Another")]),
    "a chat it is in": lambda: Change(
        OWNER, chats=[ChatChange(replace(chat(), title="Later"))]
    ),
    "a message": lambda: Change(OWNER, chats=[ChatChange(chat(), [message(99)])]),
    "a memory": lambda: Change(OWNER, put_memories=[memory("late")]),
    "an edge": lambda: Change(OWNER, put_edges=[edge()]),
    "a usage": lambda: Change(OWNER, put_usages=[usage()]),
    "a recall": lambda: Change(OWNER, put_recalls=[recall()]),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_whatever_is_written_of_a_soul_takes_its_mark(
    store: Store, what: str
) -> None:
    await marked(store)
    await store.commit(CHANGES[what]())
    assert (await marks(store))[0] is None


async def test_what_goes_by_its_id_alone_takes_every_mark_of_the_owner(
    store: Store,
) -> None:
    for change in (
        Change(OWNER, drop_memories=[MemoryId("other")]),
        Change(OWNER, drop_edges=[edge().id]),
    ):
        await marked(store)
        await store.commit(change)
        assert await marks(store) == (None, None)


async def test_another_owner_takes_none(store: Store) -> None:
    await marked(store)
    await store.commit(
        Change(Owner("somebody"), souls=[soul()], drop_memories=[MemoryId("other")])
    )
    assert await marks(store) == ("one", "two")


async def test_a_commit_that_fails_takes_none(store: Store) -> None:
    await marked(store)
    with pytest.raises(StoreError):
        await store.commit(Change(OWNER, put_edges=[edge(source="nobody")]))
    assert await marks(store) == ("one", "two")
    await store.commit(Change(OWNER, put_memories=[memory("late")]))
    assert (await marks(store))[0] is None


async def test_a_mark_put_anew_goes_anew(store: Store) -> None:
    """What a commit took away and is there again is not forgotten by the handle."""
    await marked(store)
    for _ in range(3):
        await store.commit(Change(OWNER, put_memories=[memory("late")]))
        assert (await marks(store))[0] is None
        await store.mark(OWNER, SoulId(SOUL), "again")
        assert (await marks(store))[0] == "again"


async def _opened(make: Factory) -> Store:
    store = make()
    await store.open()
    return store
