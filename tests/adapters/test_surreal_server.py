"""What the store does when its SurrealDB server goes away and comes back."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.errors import StoreError
from soulmem.domain.ids import Owner
from soulmem.ports.store import Change
from tests.adapters.bridge import bridge
from tests.ports.stores import OWNER, full_change, memory, snapshot


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_no_server_is_said_with_its_address_and_a_remedy() -> None:
    store = SurrealStore(f"ws://127.0.0.1:{free_port()}")

    with pytest.raises(StoreError, match=r"ws://127\.0\.0\.1.*start it"):
        await store.open()
    with pytest.raises(StoreError, match="not open"):
        await store.owners()


async def test_a_wrong_login_is_refused() -> None:
    async with bridge("mem://") as url:
        store = SurrealStore(url, user="nobody", password="wrong")

        with pytest.raises(StoreError, match="login"):
            await store.open()


async def test_a_server_that_comes_back_is_used_again(tmp_path: Path) -> None:
    port = free_port()
    folder = f"surrealkv://{tmp_path}/server"
    async with bridge(folder, port) as url:
        store = SurrealStore(url)
        await store.open()
        await store.commit(full_change())
        before = await snapshot(store)

    with pytest.raises(StoreError):
        await store.commit(Change(OWNER, put_memories=[memory("lost")]))
    with pytest.raises(StoreError):
        await store.souls(OWNER)

    async with bridge(folder, port):
        assert await snapshot(store) == before
        await store.commit(Change(OWNER, put_memories=[memory("later")]))
        assert len((await store.graph(OWNER, memory().soul)).memories) == 3
        await store.close()


async def test_databases_of_one_server_are_apart_while_both_are_open() -> None:
    async with bridge("mem://") as url:
        stores = [SurrealStore(url, database=name) for name in ("one", "two")]
        for store in stores:
            await store.open()
        for store, name in zip(stores, ("one", "two"), strict=True):
            assert await store.owners() == []
            await store.commit(full_change(Owner(name)))
        assert [await store.owners() for store in stores] == [["one"], ["two"]]
        for store in stores:
            await store.close()


async def test_a_change_of_many_rows_goes_over_the_wire() -> None:
    """Made and read in worker threads: the fixture that watches the loop fails this test otherwise."""
    async with bridge("mem://") as url:
        store = SurrealStore(url)
        await store.open()
        await store.commit(
            Change(OWNER, put_memories=[memory(f"m{n}", "雨" * 20_000) for n in range(100)])
        )
        assert len((await store.graph(OWNER, memory().soul)).memories) == 100
        await store.close()
