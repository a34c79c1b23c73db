"""How the embedded store keeps itself: schema, conflicts, its log."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from soulmem.adapters.surreal import SurrealStore, embedded
from soulmem.adapters.surreal import connection as connection_module
from soulmem.adapters.surreal.embedded import EmbeddedLink
from soulmem.adapters.surreal.governed_rows import audit_row, opinion_row
from soulmem.adapters.surreal.graph_rows import edge_row, memory_row
from soulmem.adapters.surreal.link import Query, Statement, Work
from soulmem.adapters.surreal.rows import EDGES, MEMORIES
from soulmem.domain.audit import Action, Actor, AuditEntry
from soulmem.domain.errors import (
    StoreError,
    StoreTooNew,
)
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.domain.opinions import Opinion
from soulmem.ports.store import Change, ChatChange
from tests.adapters.surreal_tools import counted, killed_while_writing, opened
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
    usage,
)

# Fields of memories that the first version did not have
NEWER = (
    *("terms", "names", "merged_into", "kept_apart", "brought_back"),
    "importance_given",
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


def migrations() -> Any:
    from soulmem.adapters.surreal.schema import MIGRATIONS

    return MIGRATIONS


async def test_a_newer_schema_is_left_alone(url: str, tmp_path: Path) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
    async with raw(url) as run:
        await run("UPDATE meta:schema SET version = 99;")

    for _ in range(2):
        with pytest.raises(
            StoreTooNew, match=r"newer SoulMem.*update SoulMem"
        ) as caught:
            await SurrealStore(url).open()
        assert str(tmp_path / "data") in caught.value.message

    async with raw(url) as run:
        (version,) = await run("SELECT VALUE version FROM ONLY meta:schema;")
        assert version == 99


async def test_a_store_opens_when_the_process_before_it_stands_still(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
    (tmp_path / "still.py").write_text(
        "import time\ntime.sleep(600)\n", encoding="utf-8"
    )
    monkeypatch.setattr(embedded, "_TIDY", tmp_path / "still.py")
    monkeypatch.setattr(embedded, "_TIDY_SECONDS", 0.2)
    async with opened(url) as store:
        assert await snapshot(store) == before


async def test_migrations_are_applied_once_by_name(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
    more = type(migrations()[0])(
        "9999_test", "DEFINE FIELD mood ON soul TYPE string DEFAULT 'calm';"
    )
    all_migrations = (*migrations(), more)
    monkeypatch.setattr(
        "soulmem.adapters.surreal.migrations.MIGRATIONS", all_migrations
    )

    for _ in range(
        2
    ):  # the second time there is nothing to do: DEFINE FIELD would fail
        async with opened(url) as store:
            assert await snapshot(store) == before
    async with raw(url) as run:
        (mark,) = await run("SELECT version, applied FROM ONLY meta:schema;")
        assert mark == {
            "version": len(all_migrations),
            "applied": [migration.name for migration in all_migrations],
        }


async def test_a_store_of_the_first_schema_is_migrated(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its edges come without the turn at which they were touched: nothing has to be made up for it."""
    old, fields = replace(edge(), at_turn=None, made=None), EDGES.fields
    with monkeypatch.context() as patch:
        patch.setattr(
            "soulmem.adapters.surreal.migrations.MIGRATIONS", migrations()[:1]
        )
        async with opened(url) as store:
            await store.commit(Change(OWNER, souls=[soul()]))
        async with raw(url) as run:
            rows = [memory_row(OWNER, memory(key)) for key in ("mem-1", "mem-2")]
            for row in rows:
                # memories came without what they are about, and were not joined
                for name in NEWER:
                    row.pop(name, None)
            await run(MEMORIES.put("rows"), rows=rows)
            row = edge_row(OWNER, old)
            for name in ("at_turn", "made"):
                row["content"].pop(name)
            await run(EDGES.put("rows"), rows=[row])
            (kept,) = await run("SELECT * FROM edge;")
            assert len(kept) == 1
            assert "at_turn" not in kept[0]

    assert "at_turn" in fields
    async with opened(url) as store:
        assert (await snapshot(store))["edges"] == [[old]]
        touched = replace(edge(), at_turn=7.25)
        await store.commit(Change(OWNER, put_edges=[touched], put_usages=[usage()]))
    async with opened(url) as store:
        migrated = await snapshot(store)
        assert (migrated["edges"], migrated["usages"]) == ([[touched]], [[usage()]])


def plain(key: MemoryId) -> Memory:
    """A memory as before tellings were joined, and before somebody could say how much it matters."""
    return replace(
        memory(key),
        merged_into=None,
        kept_apart=False,
        brought_back=False,
        importance_given=False,
    )


async def test_what_was_flagged_is_in_doubt_unless_it_was_reworded(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three memories were called wrong by an older SoulMem: one had been reworded before, one was since."""
    keys = [MemoryId(f"mem-{n}") for n in range(4)]
    with monkeypatch.context() as patch:
        patch.setattr(
            "soulmem.adapters.surreal.migrations.MIGRATIONS", migrations()[:8]
        )
        async with opened(url) as store:
            await store.commit(
                Change(OWNER, souls=[soul()], put_memories=list(map(plain, keys)))
            )
        async with raw(url) as run:
            for key in keys:
                row = opinion_row(OWNER, Opinion(key, SOUL, 0.25, None, (CHAT,)))
                row.pop("doubted")
                row["flagged"] = key != "mem-3"
                await run(
                    "UPSERT type::record('opinion', $row.id) CONTENT $row;", row=row
                )
            entries: list[tuple[int, Action, str, dict[str, Any]]] = [
                (1, Action.CHANGE, "mem-1", {"text": "before"}),
                *(
                    (n + 2, Action.FEEDBACK, f"mem-{n}", {"opinion": {"flagged": True}})
                    for n in range(3)
                ),
                (9, Action.CHANGE, "mem-0", {"tags": ["text"]}),
                (10, Action.CHANGE, "mem-2", {"text": "put right"}),
            ]
            for number, action, target, after in entries:
                reason = "wrong" if action is Action.FEEDBACK else ""
                entry = AuditEntry(
                    f"c{number:016x}",
                    SOUL,
                    NOON,
                    Actor.USER,
                    action,
                    target,
                    None,
                    after,
                    reason=reason,
                )
                await run(
                    "UPSERT type::record('audit', $row.id) CONTENT $row;",
                    row=audit_row(OWNER, entry),
                )
    async with opened(url) as store:
        opinions = {
            opinion.memory: opinion for opinion in await store.opinions(OWNER, SOUL)
        }
        assert [opinions[key].doubts(memory(key).text) for key in keys] == [
            True,
            True,
            False,
            False,
        ]
        assert {(opinion.score, opinion.not_in) for opinion in opinions.values()} == {
            (0.25, (CHAT,))
        }
        await store.commit(Change(OWNER, put_opinions=list(opinions.values())))


async def test_a_migration_that_fails_leaves_the_store_as_it_was(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
    broken = type(migrations()[0])("9999_test", "DELETE memory; THROW 'half-way';")
    with monkeypatch.context() as patch:
        patch.setattr(
            "soulmem.adapters.surreal.migrations.MIGRATIONS", (*migrations(), broken)
        )
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


async def test_a_log_left_by_a_crash_is_recycled_at_the_start(
    url: str, tmp_path: Path
) -> None:
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
                Change(
                    OWNER, put_memories=[memory("mem-1"), memory("mem-2", "a\ud83d")]
                )
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
