"""How the embedded store keeps itself: schema, conflicts, its log."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.surreal import connection as connection_module
from soulmem.adapters.surreal.embedded import EmbeddedLink
from soulmem.adapters.surreal.link import Query, Statement, Work
from soulmem.domain.errors import (
    StoreError,
    StoreTooNew,
)
from soulmem.ports.store import Change, ChatChange
from tests.adapters.surreal_tools import counted, killed_while_writing, opened
from tests.ports.stores import CHAT, OWNER, SOUL, chat, edge, full_change, memory, message, snapshot


@contextlib.asynccontextmanager
async def raw(url: str) -> AsyncIterator[Any]:
    """The database without the adapter's schema."""
    link = EmbeddedLink(url)
    await link.open()

    async def run(sql: str) -> list[Any]:
        return [one["result"] for one in await link.run(Query(sql, {})) if one["status"] == "OK"]

    yield run
    await link.close()


def migrations() -> Any:
    from soulmem.adapters.surreal.schema import MIGRATIONS

    return MIGRATIONS


async def test_a_newer_schema_is_left_alone(url: str, tmp_path: Path) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
    async with raw(url) as run:
        await run("UPDATE meta:schema SET version = 99;")

    for _ in range(2):
        with pytest.raises(StoreTooNew, match=r"newer SoulMem.*update SoulMem") as caught:
            await SurrealStore(url).open()
        assert str(tmp_path / "data") in caught.value.message

    async with raw(url) as run:
        (version,) = await run("SELECT VALUE version FROM ONLY meta:schema;")
        assert version == 99


async def test_migrations_are_applied_once_by_name(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
    second = type(migrations()[0])("0002_test", "DEFINE FIELD mood ON soul TYPE string DEFAULT 'calm';")
    monkeypatch.setattr("soulmem.adapters.surreal.migrations.MIGRATIONS", (*migrations(), second))

    for _ in range(2):  # the second time there is nothing to do: DEFINE FIELD would fail
        async with opened(url) as store:
            assert await snapshot(store) == before
    async with raw(url) as run:
        (mark,) = await run("SELECT version, applied FROM ONLY meta:schema;")
        assert mark == {"version": 2, "applied": ["0001_first", "0002_test"]}


async def test_a_migration_that_fails_leaves_the_store_as_it_was(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
    broken = type(migrations()[0])("0002_test", "DELETE memory; THROW 'half-way';")
    with monkeypatch.context() as patch:
        patch.setattr("soulmem.adapters.surreal.migrations.MIGRATIONS", (*migrations(), broken))
        with pytest.raises(StoreError, match="half-way"):
            await SurrealStore(url).open()

    async with opened(url) as store:
        assert await snapshot(store) == before


class Flaky:
    """A link whose answers can be replaced by conflicts."""

    def __init__(self, link: EmbeddedLink, conflicts: int) -> None:
        self._link = link
        self.conflicts = conflicts
        self.runs = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)

    async def run(self, work: Work) -> list[Statement]:
        self.runs += 1
        if self.conflicts:
            self.conflicts -= 1
            return [
                {
                    "status": "ERR",
                    "kind": "Query",
                    "details": {"kind": "TransactionConflict"},
                    "result": "Transaction conflict: Write conflict. This transaction can be retried",
                }
            ]
        return await self._link.run(work)


@pytest.mark.parametrize(("conflicts", "stored"), [(1, True), (5, True), (6, False)])
async def test_conflicts_are_retried_a_few_times(conflicts: int, stored: bool) -> None:
    async with opened("mem://") as store:
        flaky = Flaky(store._connection._link, conflicts)  # type: ignore[arg-type]
        store._connection._link = flaky
        if stored:
            await store.commit(full_change())
        else:
            with pytest.raises(StoreError, match="two writers"):
                await store.commit(full_change())
        assert flaky.runs == min(conflicts + 1, 6)
        assert bool(await store.souls(OWNER)) is stored


async def test_recycling_the_log_under_load_loses_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "LOG_LIMIT", 200_000)
    monkeypatch.setattr(connection_module, "_LOOK_EVERY", 50_000)
    async with opened(url) as store:
        opens = counted(store)

        async def writer(number: int) -> None:
            for step in range(25):
                key = f"m{number}-{step}"
                await store.commit(
                    Change(
                        OWNER,
                        chats=[ChatChange(chat(), [message(number * 1000 + step)])],
                        put_memories=[memory(key, "x" * 5000)],
                        put_edges=[edge(key, key)],
                    )
                )

        async def reader() -> None:
            seen = 0
            for _ in range(15):
                found = len((await store.graph(OWNER, SOUL)).memories)
                assert found >= seen
                seen = found

        await asyncio.gather(*(writer(number) for number in range(4)), reader())
        assert opens.count("open") >= 2
        assert len((await store.graph(OWNER, SOUL)).memories) == 100
        assert len((await store.graph(OWNER, SOUL)).edges) == 100
        assert len(await store.messages(OWNER, CHAT)) == 100
        log = sum(file.stat().st_size for file in (tmp_path / "data" / "wal").iterdir())
        assert log < 400_000


async def test_maintenance_recycles_a_log_that_has_grown(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        opens = counted(store)
        await store.commit(full_change())
        await store.maintain()
        assert opens == []
        monkeypatch.setattr(connection_module, "LOG_LIMIT", 1000)
        before = await snapshot(store)
        await store.maintain()
        assert opens == ["close", "open"]
        assert await snapshot(store) == before


async def test_a_log_left_by_a_crash_is_recycled_at_the_start(url: str, tmp_path: Path) -> None:
    await killed_while_writing(url, 5, 0.0)
    log = tmp_path / "data" / "wal"
    assert sum(file.stat().st_size for file in log.iterdir()) > 10_000

    async with opened(url) as store:
        assert sum(file.stat().st_size for file in log.iterdir()) < 1000
        assert len((await store.graph(OWNER, SOUL)).memories) >= 6


async def test_half_a_surrogate_pair_is_refused_and_nothing_is_stored() -> None:
    async with opened("mem://") as store:
        with pytest.raises(StoreError, match="surrogate"):
            await store.commit(Change(OWNER, put_memories=[memory("mem-1"), memory("mem-2", "a\ud83d")]))
        assert await snapshot(store) == {
            "souls": [],
            "chats": [],
            "messages": [],
            "memories": [],
            "edges": [],
        }
        await store.commit(full_change())
