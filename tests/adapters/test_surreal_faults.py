"""What the embedded store does when something is wrong: killed, locked, full, read-only, newer, broken."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.surreal import connection as connection_module
from soulmem.adapters.surreal.embedded import EmbeddedLink
from soulmem.adapters.surreal.link import Query, Statement, Work
from soulmem.domain.errors import (
    StoreBroken,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreTooNew,
)
from soulmem.ports.store import Change, ChatChange
from tests.ports.stores import CHAT, OWNER, SOUL, chat, edge, full_change, memory, message, snapshot, soul

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def quiet_collector() -> Iterator[None]:
    """Keep what the test run has loaded out of the garbage collector's rounds, which block the loop."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"surrealkv://{tmp_path}/data"


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncIterator[SurrealStore]:
    store = SurrealStore(url)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def child(command: str, url: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.adapters.surreal_child", command, url),
        stdout=asyncio.subprocess.PIPE,
        cwd=REPOSITORY,
    )


async def killed_while_writing(url: str, commits: int, pause: float) -> int:
    """Number of the last commit that a process acknowledged before it was killed."""
    process = await child("write", url)
    assert process.stdout is not None
    last = -1
    while last < commits:
        last = int(await process.stdout.readline())
    await asyncio.sleep(pause)  # into the middle of whatever it does then
    process.kill()
    rest = (await process.stdout.read()).split(b"\n")[:-1]
    await process.wait()
    return int(rest[-1]) if rest else last


@pytest.mark.parametrize(("commits", "pause"), [(3, 0.0), (20, 0.002), (60, 0.009)])
async def test_nothing_acknowledged_is_lost_by_kill_9(url: str, commits: int, pause: float) -> None:
    last = await killed_while_writing(url, commits, pause)
    async with opened(url) as store:
        graph = await store.graph(OWNER, SOUL)
        memories = {one.id for one in graph.memories}
        said = {ranked.message.slot for ranked in await store.messages(OWNER, CHAT)}

        assert last >= commits
        assert {f"m{number}" for number in range(-1, last + 1)} <= memories
        # and no change is stored in part
        assert {f"m{slot.removeprefix('slot-')}" for slot in said} | {"m-1"} == memories
        assert {edge.target for edge in graph.edges} | {"m-1"} == memories


async def test_a_second_process_is_told_that_soulmem_runs_already(url: str, tmp_path: Path) -> None:
    async with opened(url) as store:
        process = await child("open", url)
        told, _ = await process.communicate()
        assert told.decode().startswith("StoreLocked: SoulMem is already running on this data folder")
        assert str(tmp_path / "data") in told.decode()
        assert "--data" in told.decode()
        await store.commit(full_change())  # which the visitor did not disturb

    async with opened(url) as store:
        assert len((await store.graph(OWNER, SOUL)).memories) == 2


async def test_a_soulmem_that_is_just_closing_is_waited_for(url: str) -> None:
    async with opened(url) as first:
        await first.commit(full_change())
        second = SurrealStore(url)
        waiting = asyncio.ensure_future(second.open())
        await asyncio.sleep(0.2)
        assert not waiting.done()
    await waiting
    assert len((await second.graph(OWNER, SOUL)).memories) == 2
    with pytest.raises(StoreLocked, match="already running"):
        await SurrealStore(url).open()
    await second.close()


async def meta(store: SurrealStore, sql: str) -> None:
    """Run a statement past the adapter."""
    await store._connection.write(Query(sql, {}))


async def test_a_newer_schema_is_left_alone(url: str, tmp_path: Path) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        await meta(store, "UPDATE meta:schema SET version = 99;")

    for _ in range(2):
        with pytest.raises(StoreTooNew, match=r"newer SoulMem.*update SoulMem") as caught:
            await SurrealStore(url).open()
        assert str(tmp_path / "data") in caught.value.message

    async with raw(url) as run:
        (version,) = await run("SELECT VALUE version FROM ONLY meta:schema;")
        assert version == 99


@contextlib.asynccontextmanager
async def raw(url: str) -> AsyncIterator[Any]:
    """The database without the adapter's schema."""
    link = EmbeddedLink(url)
    await link.open()

    async def run(sql: str) -> list[Any]:
        return [one["result"] for one in await link.run(Query(sql, {})) if one["status"] == "OK"]

    yield run
    await link.close()


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


def migrations() -> Any:
    from soulmem.adapters.surreal.schema import MIGRATIONS

    return MIGRATIONS


def damaged(folder: Path, part: str, how: str) -> None:
    """Damage every file of a part of the store."""
    for file in (folder / part).iterdir():
        data = bytearray(file.read_bytes())
        if how == "garbage":
            data[:] = random.Random(1).randbytes(max(len(data), 400))
        elif how == "half":
            del data[len(data) // 2 :]
        elif how == "empty":
            data.clear()
        else:
            data[len(data) // 3 : len(data) // 3 + 40] = b"\xff" * 40
        file.write_bytes(data)


@pytest.mark.parametrize("part", ["manifest", "sstables"])
@pytest.mark.parametrize("how", ["garbage", "half", "empty", "bits"])
async def test_a_damaged_store_is_said_to_be_broken(url: str, tmp_path: Path, part: str, how: str) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        await store.commit(Change(OWNER, put_memories=[memory(f"m{n}") for n in range(100)]))
    await settled(tmp_path / "data")
    damaged(tmp_path / "data", part, how)

    process = await child("open", url)  # of its own, as the engine aborts the process on some damage
    told, _ = await process.communicate()
    assert told.decode().startswith("StoreBroken: ")
    assert "cannot be read: put a backup in its place" in told.decode()
    assert str(tmp_path / "data") in told.decode()


async def test_opening_leaves_merging_tables_to_another_process(url: str, tmp_path: Path) -> None:
    """In this one the engine would stop the event loop for it."""
    tables = tmp_path / "data" / "sstables"
    for number in range(6):
        async with opened(url) as store:
            await store.commit(Change(OWNER, souls=[soul()], put_memories=[memory(f"m{number}")]))
        await settled(tmp_path / "data")
    before = {file.name for file in tables.iterdir()}
    assert len(before) < 6

    async with opened(url) as store:
        assert len((await store.graph(OWNER, SOUL)).memories) == 6


async def settled(folder: Path) -> None:
    """Wait until the engine, which tidies up after close() answered, has let go of the files."""
    for _ in range(100):
        if not any(str(folder) in name for name in open_files()):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{folder} is still in use")


def open_files() -> list[str]:
    if not os.path.isdir("/proc/self/fd"):
        return []
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return found


async def test_a_log_cut_short_by_a_crash_keeps_what_is_whole(url: str, tmp_path: Path) -> None:
    await killed_while_writing(url, 20, 0.0)
    (log,) = (tmp_path / "data" / "wal").iterdir()
    whole = log.read_bytes()
    log.write_bytes(whole[: len(whole) * 2 // 3])

    async with opened(url) as store:
        graph = await store.graph(OWNER, SOUL)
        assert 1 < len(graph.memories) < 22
        assert len(graph.edges) == len(graph.memories) - 1
        await store.commit(Change(OWNER, put_memories=[memory("after")]))
    async with opened(url) as store:
        assert len((await store.graph(OWNER, SOUL)).memories) == len(graph.memories) + 1


@pytest.mark.parametrize("name", ["data", "data/below"])
async def test_a_file_in_the_way_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "data").write_text("not a folder")

    with pytest.raises(StoreBroken, match="--data") as caught:
        await SurrealStore(f"surrealkv://{tmp_path / name}").open()
    assert str(tmp_path / name) in caught.value.message


class SmallDisk:
    """A disk of its own in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)

    def fill(self) -> None:
        """Leave not a byte."""
        with contextlib.suppress(OSError), (self.folder / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 8 MiB; skips where this user may not mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk (root on Linux)")
    yield SmallDisk(folder)
    subprocess.run(["umount", "-l", folder], check=True)


async def fill_up(store: SurrealStore, disk: SmallDisk) -> list[str]:
    """Commit until the disk is full; the keys of what was acknowledged."""
    await asyncio.to_thread(disk.fill)
    (disk.folder / "ballast").write_bytes(bytes((disk.folder / "ballast").stat().st_size - 200_000))
    kept: list[str] = []

    async def commit_on() -> None:
        for number in range(1000):
            await store.commit(Change(OWNER, put_memories=[memory(f"f{number}", "x" * 3000)]))
            kept.append(f"f{number}")

    with pytest.raises(StoreFull, match="is full: free some space"):
        await commit_on()
    assert kept
    return kept


async def test_a_full_disk_is_said_and_forgotten_when_there_is_room(disk: SmallDisk) -> None:
    url = f"surrealkv://{disk.folder}/data"
    async with opened(url) as store:
        await store.commit(full_change())
        kept = ["mem-1", "mem-2", *await fill_up(store, disk)]

        assert not store.health().writable
        assert "full" in store.health().detail
        with pytest.raises(StoreFull):
            await store.commit(Change(OWNER, put_memories=[memory("small", "x")]))
        found = (await store.graph(OWNER, SOUL)).memories  # reading goes on
        assert sorted(one.id for one in found) == sorted(kept)

        disk.remount("size=24m")
        await store.commit(Change(OWNER, put_memories=[memory("later", "x")]))
        assert store.health().writable
    async with opened(url) as store:
        assert sorted(one.id for one in (await store.graph(OWNER, SOUL)).memories) == sorted([*kept, "later"])


async def test_what_is_committed_after_a_full_disk_survives_a_kill(disk: SmallDisk) -> None:
    """A record cut short by the full disk must not hide those written behind it."""
    url = f"surrealkv://{disk.folder}/data"
    async with opened(url) as store:
        await store.commit(full_change())
        await fill_up(store, disk)
        disk.remount("size=24m")
        await store.commit(Change(OWNER, put_memories=[memory("later", "x")]))
        copy = disk.folder / "as-killed"
        await asyncio.to_thread(shutil.copytree, disk.folder / "data", copy)

    async with opened(f"surrealkv://{copy}") as store:
        assert "later" in {one.id for one in (await store.graph(OWNER, SOUL)).memories}


async def test_a_full_disk_at_the_start_is_said(disk: SmallDisk) -> None:
    await asyncio.to_thread(disk.fill)

    with pytest.raises(StoreFull, match="free some space") as caught:
        await SurrealStore(f"surrealkv://{disk.folder}/data").open()
    assert str(disk.folder) in caught.value.message


async def test_a_read_only_folder_is_said(disk: SmallDisk) -> None:
    url = f"surrealkv://{disk.folder}/data"
    async with opened(url) as store:
        await store.commit(full_change())
    await settled(disk.folder)
    disk.remount("ro")

    for place in ("data", "fresh"):
        with pytest.raises(StoreReadOnly, match=r"cannot be written.*--data") as caught:
            await SurrealStore(f"surrealkv://{disk.folder}/{place}").open()
        assert str(disk.folder / place) in caught.value.message
    disk.remount("rw")
    async with opened(url) as store:
        assert len((await store.graph(OWNER, SOUL)).memories) == 2


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
                await store.maintain()

        await asyncio.gather(*(writer(number) for number in range(4)), reader())
        assert opens.count("open") >= 4
        assert len((await store.graph(OWNER, SOUL)).memories) == 100
        assert len((await store.graph(OWNER, SOUL)).edges) == 100
        assert len(await store.messages(OWNER, CHAT)) == 100
        log = sum(file.stat().st_size for file in (tmp_path / "data" / "wal").iterdir())
        assert log < 400_000


def counted(store: SurrealStore) -> list[str]:
    """A list that grows with each time the store's link really opens or closes."""
    calls: list[str] = []
    link = store._connection._link
    plain_open, plain_close = link.open, link.close

    async def count_open() -> None:
        if link._handle is None:  # type: ignore[attr-defined]
            calls.append("open")
        await plain_open()

    async def count_close() -> None:
        calls.append("close")
        await plain_close()

    link.open, link.close = count_open, count_close  # type: ignore[method-assign]
    return calls


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


async def test_a_log_left_by_a_crash_is_recycled_at_the_start(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await killed_while_writing(url, 5, 0.0)
    monkeypatch.setattr(connection_module, "LOG_LIMIT", 1000)

    async with opened(url) as store:
        log = sum(file.stat().st_size for file in (tmp_path / "data" / "wal").iterdir())
        assert log < 1000
        assert len((await store.graph(OWNER, SOUL)).memories) >= 6


async def test_without_room_for_a_new_start_the_log_is_left_and_writers_are_told(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
        with monkeypatch.context() as patch:
            patch.setattr(connection_module, "LOG_LIMIT", 1000)
            patch.setattr(connection_module, "ROOM", 1 << 60)
            await store.maintain()
            assert not store.health().writable
            with pytest.raises(StoreFull, match=r"MiB must be free"):
                await store.commit(Change(OWNER, put_memories=[memory("no")]))
            assert await snapshot(store) == before
        await store.commit(Change(OWNER, put_memories=[memory("yes")]))
        assert store.health().writable


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
