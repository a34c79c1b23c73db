"""What every store promises over its life: callers at once, closing, opening again."""

from __future__ import annotations

import asyncio

import pytest

from soulmem.domain.errors import StoreError
from soulmem.ports.store import Change, ChatChange, Store
from tests.ports.stores import (
    CHAT,
    KINDS,
    OWNER,
    SERVER,
    SOUL,
    WS_VARIABLE,
    Factory,
    chat,
    full_change,
    memory,
    message,
    snapshot,
)
from tests.ports.wire import over_the_wire


def test_a_real_server_takes_part() -> None:
    if not SERVER:
        pytest.skip(
            f"{WS_VARIABLE} names no SurrealDB server (ws://host:port; {WS_VARIABLE}_USER, _PASSWORD)"
        )
    assert "ws server" in KINDS


@over_the_wire
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
            assert any(item.id == key for item in (await store.graph(OWNER, SOUL)).memories)

    await asyncio.gather(*(writer(number) for number in range(8)))

    assert len((await store.graph(OWNER, SOUL)).memories) == 40
    assert len(await store.messages(OWNER, CHAT)) == 40


async def test_a_cancelled_commit_is_stored_whole_or_not_at_all(store: Store) -> None:
    for number in range(20):
        task = asyncio.ensure_future(
            store.commit(
                Change(
                    OWNER,
                    chats=[ChatChange(chat(), [message(number)])],
                    put_memories=[memory(f"m{number}")],
                )
            )
        )
        for _ in range(number):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    kept = {item.id for item in (await store.graph(OWNER, SOUL)).memories}
    text = {ranked.message.slot for ranked in await store.messages(OWNER, CHAT)}

    assert {key.removeprefix("m") for key in kept} == {slot.removeprefix("slot-") for slot in text}
    await store.commit(Change(OWNER, put_memories=[memory("last")]))
    assert "last" in {item.id for item in (await store.graph(OWNER, SOUL)).memories}


async def test_housekeeping_changes_nothing(store: Store) -> None:
    await store.commit(full_change())
    before = await snapshot(store)
    await store.maintain()

    assert await snapshot(store) == before


@over_the_wire
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


@over_the_wire
async def test_reopening_keeps_everything(make: Factory) -> None:
    first = make()
    await first.open()
    await first.commit(full_change())
    await first.put_vectors("model", {"k": b"1234"})
    before = await snapshot(first)
    await first.close()

    second = make()
    await second.open()
    assert await snapshot(second) == before
    assert await second.vectors("model", ["k"]) == {"k": b"1234"}
    await second.close()
