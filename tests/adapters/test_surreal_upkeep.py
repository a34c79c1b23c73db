"""How the embedded store keeps itself: schema, conflicts, its log."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from soulmem.adapters.surreal import SurrealStore, embedded
from soulmem.adapters.surreal import connection as connection_module
from soulmem.adapters.surreal.embedded import EmbeddedLink
from soulmem.adapters.surreal.link import Query, Statement, Work
from soulmem.adapters.surreal.schema import VERSION
from soulmem.domain.errors import (
    StoreError,
    StoreTooNew,
    StoreTooOld,
)
from soulmem.ports.store import Change, ChatChange
from tests.adapters.surreal_tools import counted, killed_while_writing, opened
from tests.ports.stores import (
    CHAT,
    OWNER,
    SOUL,
    chat,
    edge,
    full_change,
    memory,
    message,
    snapshot,
)


@contextlib.asynccontextmanager
async def raw(url: str) -> AsyncIterator[Any]:
    """The database without the adapter's schema."""
    link = EmbeddedLink(url)
    await link.open()

    async def run(sql: str, **params: Any) -> list[Any]:
        answers = await link.run(Query(sql, params))
        assert [statement for statement in answers if statement["status"] != "OK"] == []
        return [statement["result"] for statement in answers]

    yield run
    await link.close()


@pytest.mark.parametrize(
    ("schema", "refusal", "remedy"),
    [
        (VERSION + 1, StoreTooNew, r"newer SoulMem.*update SoulMem"),
        (VERSION - 1, StoreTooOld, r"older SoulMem.*`soulmem export`.*soulmem restore"),
        (1, StoreTooOld, r"older SoulMem.*`soulmem export`.*soulmem restore"),
    ],
)
async def test_a_store_of_another_schema_is_refused_and_left_alone(
    url: str, tmp_path: Path, schema: int, refusal: type[StoreError], remedy: str
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
    async with raw(url) as run:
        await run("UPDATE meta:schema SET version = $schema;", schema=schema)
        before = await run("SELECT * FROM memory; SELECT * FROM meta;")

    for _ in range(2):
        with pytest.raises(refusal, match=remedy) as caught:
            await SurrealStore(url).open()
        assert str(tmp_path / "data") in caught.value.message

    async with raw(url) as run:
        assert await run("SELECT * FROM memory; SELECT * FROM meta;") == before


async def test_a_store_opens_when_the_process_before_it_stands_still(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
    (tmp_path / "still.py").write_text("import time\ntime.sleep(600)\n", encoding="utf-8")
    monkeypatch.setattr(embedded, "_TIDY", tmp_path / "still.py")
    monkeypatch.setattr(embedded, "_TIDY_SECONDS", 0.2)
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
            with pytest.raises(StoreError, match="two changes conflict"):
                await store.commit(full_change())
        assert flaky.runs == min(conflicts + 1, 6)
        assert bool(await store.souls(OWNER)) is stored


async def test_recycling_the_log_under_load_loses_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "LOG_LIMIT", 200_000)
    monkeypatch.setattr(connection_module, "_LOG_CHECK_BYTES", 50_000)
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
                count = len((await store.graph(OWNER, SOUL)).memories)
                assert count >= seen
                seen = count

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
        monkeypatch.setattr(connection_module, "QUIET_LOG_LIMIT", 1000)
        before = await snapshot(store)
        await store.maintain()
        assert opens == ["close", "open"]
        assert await snapshot(store) == before


async def test_maintenance_lets_go_of_what_large_reads_left_in_memory(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        opens = counted(store)
        await store.commit(full_change())
        before = await snapshot(store)
        monkeypatch.setattr(connection_module, "HELD_LIMIT", 1000)
        await store.maintain()
        assert opens == ["close", "open"]
        await store.maintain()  # nothing was read since
        assert opens == ["close", "open"]
        assert await snapshot(store) == before


async def test_few_vectors_are_held_while_their_keys_are_listed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        keys = [f"{number:02x}" for number in range(256)]
        await store.put_vectors("model", {key: bytes(1536) for key in keys})
        await store.put_vectors("another", {"00": bytes(1536)})
        monkeypatch.setattr(connection_module, "HELD_LIMIT", 40_000)
        await store.maintain()
        opens = counted(store)
        parts = [part async for part in store.vector_keys("model")]
        listed = [key for _, key in chain.from_iterable(parts)]
        assert sorted(listed) == sorted([*keys, "00"])
        assert max(map(len, parts)) == 16
        # Each other part of 16 makes it let go, though the answer has a twentieth of what is read for it.
        assert opens.count("open") == 8
        await store.maintain()
        assert opens.count("open") == 8


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
            await store.commit(
                Change(OWNER, put_memories=[memory("mem-1"), memory("mem-2", "a\ud83d")])
            )
        assert await snapshot(store) == {
            "souls": [],
            "chats": [],
            "messages": [],
            "memories": [],
            "edges": [],
            "usages": [],
            "recalls": [],
        }
        await store.commit(full_change())
