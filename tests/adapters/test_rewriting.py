"""Is the room of what was deleted given back, and is nothing lost wherever that is broken off?"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from soulmem.adapters.backup_folder import BackupFolder
from soulmem.adapters.surreal import rewriting
from soulmem.adapters.surreal.kept import KeptStore
from soulmem.adapters.surreal.lock import released
from soulmem.adapters.surreal.rewriting import Rewriting
from soulmem.domain.audit import Actor, AuditQuery
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.errors import StoreError, StoreGone
from soulmem.domain.ids import MemoryId
from soulmem.domain.opinions import Opinion
from soulmem.ports.store import Change
from tests.adapters.surreal_tools import REPOSITORY, settled
from tests.adapters.test_surreal_crash import damaged
from tests.adapters.test_surreal_upkeep import raw
from tests.ports.stores import (
    CHAT,
    NOON,
    OWNER,
    SOUL,
    full_change,
    memory,
    snapshot,
)
from tests.ports.test_store_audit import deletion, entry
from tests.ports.test_store_edge_vectors import vector
from tests.ports.test_store_fading import fading_record
from tests.ports.test_store_llm_usage import BOOKS
from tests.ports.test_store_streams import event

pytestmark = pytest.mark.timeout(120)

_KEYS = [MemoryId(f"gone-{number}") for number in range(1000)]


def store_in(data: Path) -> KeptStore:
    return KeptStore(data, "store", BackupFolder(data / "backups"))


def size(data: Path) -> int:
    """Bytes of the store's files."""
    return sum(f.stat().st_size for f in (data / "store").rglob("*") if f.is_file())


def beside(data: Path) -> set[str]:
    """What lies beside the store."""
    return {path.name for path in data.iterdir()} - {"store.log.json"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any growth is worth a rewriting."""
    monkeypatch.setattr(rewriting, "_LEAST", 1)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a store of all that can be stored, and much that was deleted."""
    folder = tmp_path_factory.mktemp("filled") / "data"
    asyncio.run(fill(folder))
    return folder


async def fill(folder: Path) -> None:
    store = store_in(folder)
    await store.open()
    await store.commit(one_of_everything())
    await store.commit(Change(OWNER, put_memories=[PERMANENT], by=Actor.USER))
    await store.put_events(OWNER, SOUL, [event("a")])
    await store.put_llm_usage(OWNER, BOOKS)
    await store.mark(OWNER, SOUL, "token")
    await store.commit(Change(OWNER, put_memories=[memory("shelved")]))
    await store.shelve(OWNER, SOUL, [MemoryId("shelved")])
    for start in range(0, len(_KEYS), 250):
        some = [memory(key) for key in _KEYS[start : start + 250]]
        await store.commit(Change(OWNER, put_memories=some))
    await store.put_vectors("model", {key: bytes(800) for key in ("v1", "v2")})
    await store.close()
    await settled(folder)
    await store.open()
    await store.commit(Change(OWNER, drop_memories=_KEYS))
    await store.mark(OWNER, SOUL, "token")
    await store.commit(Change(OWNER, drop_memories=_KEYS[:1]))  # listed since
    await store.close()
    await settled(folder)


@pytest.fixture
def data(filled: Path, tmp_path: Path) -> Path:
    """A copy of the filled folder."""
    return Path(shutil.copytree(filled, tmp_path / "data folder 数据"))


async def picture(store: KeptStore) -> Any:
    """All that is stored."""
    return (
        await snapshot(store),
        await store.vectors("model", ["v1", "v2"]),
        await store.audit(OWNER, AuditQuery(SOUL)),
        await store.fading(OWNER, SOUL),
        await store.opinions(OWNER, SOUL),
        await store.derivations(OWNER, SOUL),
        await store.edge_vectors(OWNER, SOUL),
        await store.event_keys(OWNER, SOUL),
        await store.deletions(OWNER),
        await store.llm_usage(OWNER),
    )


PERMANENT = replace(memory("mem-1"), permanent=True, locked=True)


def one_of_everything() -> Change:
    """A change of every table."""
    derivation = Derivation("v1", SOUL, Work.DIGEST, CHAT, (MemoryId("mem-1"),), NOON, source="job")
    same = [replace(entry(1), id=f"c{n}", target=f"mem-{n}") for n in range(9)]
    return replace(
        full_change(),
        audit=[entry(0), *same],
        put_deletions=[deletion()],
        put_opinions=[Opinion(MemoryId("mem-1"), SOUL, 0.25)],
        put_fading=[fading_record()],
        put_edge_vectors=[vector()],
        put_derivations=[derivation],
    )


async def test_no_table_is_empty_in_these_tests(data: Path) -> None:
    """So every statement that copies rows is tried, also against what guards them."""
    async with raw(f"surrealkv://{data / 'store'}") as run:
        (tables,) = await run("RETURN (INFO FOR DB).tables.keys();")
        empty = [
            table
            for table in tables
            if not (await run(f"SELECT VALUE id FROM {table} LIMIT 1;"))[0]
        ]
    assert len(tables) >= 20
    assert empty == []


async def test_what_was_deleted_takes_no_room_after_a_rewriting(data: Path) -> None:
    store = store_in(data)
    await store.open()
    before, full = await picture(store), size(data)
    await store.compact()
    assert await picture(store) == before
    await store.commit(Change(OWNER, put_memories=[memory("later")]))
    await store.close()
    await settled(data)

    assert size(data) < full - 30 * len(_KEYS)
    assert beside(data) == {
        "store",
        "store.json",
        "store.size.json",
        "store.exchange.json",
    }
    again = store_in(data)
    await again.open()
    assert await picture(again) != before
    await again.commit(Change(OWNER, drop_memories=[MemoryId("later")]))
    assert await picture(again) == before
    await again.close()


async def test_a_store_that_did_not_grow_is_left_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(data)
    await store.open()
    await store.compact()
    started = spied(monkeypatch)
    await store.compact()
    assert started == []
    await store.commit(Change(OWNER, put_memories=[memory(f"n{n}", "x" * 500) for n in range(300)]))
    await store.compact()
    assert len(started) == 1
    await store.close()


@pytest.mark.parametrize(("limit", "value"), [("_LEAST", 1 << 30), ("_ROOM", 1 << 60)])
async def test_for_a_small_growth_or_without_room_for_two_copies_nothing_is_begun(
    data: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(rewriting, limit, value)
    started = spied(monkeypatch)
    store = store_in(data)
    await store.open()
    await store.compact()
    assert started == []
    await store.close()


async def test_what_is_written_meanwhile_is_kept_and_the_new_store_thrown_away(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(data)
    await store.open()
    started = spied(monkeypatch)
    running = await begun(store, started)
    await asyncio.wait_for(  # it does not wait for the copy
        store.commit(Change(OWNER, put_memories=[memory("meanwhile")])), 5
    )
    await running
    assert started[0].poll() is not None
    memories = {m.id for m in await store.memories(OWNER, SOUL)}
    assert "meanwhile" in memories
    assert "store.rewriting" not in beside(data)
    assert "store.size.json" not in beside(data)
    await store.close()


async def test_what_is_written_after_the_copy_keeps_the_old_store(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(data)
    await store.open()
    counted = Rewriting._counts

    async def counts_then_write(*args: Any) -> Any:
        counts = await counted(*args)
        assert counts is not None
        await store.commit(Change(OWNER, put_memories=[memory("last moment")]))
        return counts

    monkeypatch.setattr(Rewriting, "_counts", counts_then_write)
    await store.compact()
    memories = {m.id for m in await store.memories(OWNER, SOUL)}
    assert "last moment" in memories
    await store.close()


async def test_a_cancelled_rewriting_ends_its_process_and_changes_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(data)
    await store.open()
    before, started = await picture(store), spied(monkeypatch)
    running = await begun(store, started)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert started[0].poll() is not None
    assert await picture(store) == before
    await store.close()


def broken_tables(folder: Path) -> None:
    damaged(folder, "sstables", "garbage")


def broken_manifest(folder: Path) -> None:
    damaged(folder, "manifest", "garbage")


@pytest.mark.parametrize("damage", [broken_tables, broken_manifest])
async def test_a_new_store_that_cannot_be_opened_gives_way_to_the_old_one(
    data: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]
) -> None:
    store = store_in(data)
    await store.open()
    before, put = await picture(store), Rewriting._put

    def put_damaged(self: Rewriting, fresh: Path) -> None:
        damage(fresh)
        put(self, fresh)

    monkeypatch.setattr(Rewriting, "_put", put_damaged)
    await store.compact()
    assert await picture(store) == before
    await store.commit(Change(OWNER, put_memories=[memory("later")]))
    assert store.health().writable
    await store.close()
    await settled(data)
    again = store_in(data)
    await again.open()
    await again.commit(Change(OWNER, drop_memories=[MemoryId("later")]))
    assert await picture(again) == before
    await again.close()


async def test_a_new_store_without_the_rows_of_a_table_gives_way_to_the_old_one(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(data)
    await store.open()
    before, full = await picture(store), size(data)
    started, counted = spied(monkeypatch), Rewriting._counts

    async def one_table_more(*args: Any) -> Any:
        counts = await counted(*args)
        assert counts is not None
        return counts | {"letter": 1}

    monkeypatch.setattr(Rewriting, "_counts", one_table_more)
    await store.compact()
    assert await picture(store) == before
    assert size(data) >= full
    await store.compact()
    assert len(started) == 1, "it is not tried again before the store has grown"
    await store.close()


async def test_rows_that_cannot_be_copied_leave_the_store_as_it_is(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "fails.py"
    program.write_text("raise SystemExit('no')\n", encoding="utf-8")
    monkeypatch.setattr(rewriting, "_PROGRAM", program)
    store = store_in(data)
    await store.open()
    before, started = await picture(store), spied(monkeypatch)
    await store.compact()
    assert await picture(store) == before
    await store.compact()
    assert len(started) == 1
    await store.close()


async def test_a_process_that_stands_still_is_ended(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "still.py"
    program.write_text("import time\ntime.sleep(600)\n", encoding="utf-8")
    monkeypatch.setattr(rewriting, "_PROGRAM", program)
    monkeypatch.setattr(rewriting, "_COPY_SECONDS", 0.1)
    monkeypatch.setattr(rewriting, "_BYTES_A_SECOND", 1 << 40)
    store = store_in(data)
    await store.open()
    before, started = await picture(store), spied(monkeypatch)
    await store.compact()
    assert started[0].poll() is not None
    assert await picture(store) == before
    await store.close()


# Ends the process, as a kill does, at a rename of the exchange or in the middle of the copy.
_KILLED = """
import asyncio, os, sys
from pathlib import Path
from soulmem.adapters.backup_folder import BackupFolder
from soulmem.adapters.surreal import rewriting
from soulmem.adapters.surreal.kept import KeptStore

data, moment = Path(sys.argv[1]), sys.argv[2]
rewriting._LEAST = 1
rename, calls = rewriting.Rewriting._rename, []

def killed(self, old, new):
    calls.append(new)
    if moment == f"before {len(calls)}":
        os._exit(9)
    rename(self, old, new)
    if moment == f"after {len(calls)}":
        os._exit(9)

def kill(*args):
    os._exit(9)

rewriting.Rewriting._rename = killed
if moment == "copying":
    rewriting.Rewriting._counts = kill
if moment == "open":
    rewriting._filled_tables = kill

async def main():
    store = KeptStore(data, "store", BackupFolder(data / "backups"))
    await store.open()
    for _ in range(2):  # about once in a thousand times the engine never ends a copy
        await store.compact()
    os._exit(0)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "moment",
    [
        "copying",
        "before 2",
        "open",
        *(
            pytest.param(moment, marks=pytest.mark.nightly)
            for moment in ("before 1", "after 1", "after 2", "never")
        ),
    ],
)
async def test_a_kill_at_any_moment_leaves_everything_in_place(data: Path, moment: str) -> None:
    store = store_in(data)
    await store.open()
    before = await picture(store)
    await store.close()
    await settled(data)

    command = [sys.executable, "-c", _KILLED, str(data), moment]
    ended = await asyncio.to_thread(subprocess.run, command, check=False, cwd=REPOSITORY)
    assert ended.returncode == (0 if moment == "never" else 9)
    again = store_in(data)
    await again.open()
    assert await picture(again) == before
    assert not {"store.former", "store.rewriting"} & beside(data)
    await again.commit(Change(OWNER, put_memories=[memory("later")]))
    await again.compact()
    await again.commit(Change(OWNER, drop_memories=[MemoryId("later")]))
    assert await picture(again) == before
    await again.close()


@pytest.mark.parametrize("moment", ["after 2", pytest.param("open", marks=pytest.mark.nightly)])
async def test_after_a_kill_a_new_store_that_is_broken_gives_way_to_the_old_one(
    data: Path, moment: str
) -> None:
    store = store_in(data)
    await store.open()
    before = await picture(store)
    await store.close()
    await settled(data)
    command = [sys.executable, "-c", _KILLED, str(data), moment]
    await asyncio.to_thread(subprocess.run, command, check=False, cwd=REPOSITORY)
    broken_manifest(data / "store")
    again = store_in(data)
    await again.open()
    assert await picture(again) == before
    await again.close()


async def test_after_a_kill_an_old_store_that_a_backup_replaced_is_kept_aside(
    data: Path,
) -> None:
    command = [sys.executable, "-c", _KILLED, str(data), "after 1"]
    await asyncio.to_thread(subprocess.run, command, check=False, cwd=REPOSITORY)
    assert not (data / "store").exists()
    other = store_in(data.with_name("other"))
    await other.open()
    await other.close()
    await settled(data.with_name("other"))
    (data.with_name("other") / "store").rename(data / "store")
    again = store_in(data)
    await again.open()
    await again.close()
    assert "store.aside-rewriting" in beside(data)
    assert "store.former" not in beside(data)


async def test_a_store_whose_files_went_while_it_was_closed_is_not_begun_anew(
    data: Path,
) -> None:
    store = store_in(data)
    await store.open()

    async def take_away(_run: Any) -> None:
        await store._connection.close_link()
        assert await released(data / "store")
        await asyncio.to_thread((data / "store").rename, data / "elsewhere")
        with pytest.raises(StoreGone):
            await store._connection.open_link()

    await store._connection.change_files(take_away)
    with pytest.raises(StoreError):
        await store.commit(Change(OWNER, put_memories=[memory("lost")]))
    assert "store" not in beside(data)
    await store.close()


async def begun(store: KeptStore, started: list[subprocess.Popen[str]]) -> asyncio.Future[None]:
    """A rewriting whose process has started."""
    running = asyncio.ensure_future(store.compact())
    while not started:
        assert not running.done(), "it ended without a process"
        await asyncio.sleep(0.01)
    return running


def spied(
    monkeypatch: pytest.MonkeyPatch,
) -> list[subprocess.Popen[str]]:
    """A list of the processes that are started to copy rows."""
    started: list[subprocess.Popen[str]] = []
    start = rewriting._start

    def note(copy: Path, fresh: Path) -> subprocess.Popen[str]:
        started.append(start(copy, fresh))
        return started[-1]

    monkeypatch.setattr(rewriting, "_start", note)
    return started
