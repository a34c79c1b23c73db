"""What the embedded store says and keeps when its disk is full or read-only."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.surreal import connection as connection_module
from soulmem.domain.errors import (
    StoreFull,
    StoreReadOnly,
)
from soulmem.ports.store import Change
from tests.adapters.surreal_tools import SmallDisk, opened, settled
from tests.ports.stores import OWNER, SOUL, full_change, memory, snapshot


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


async def test_a_full_disk_is_said_and_forgotten_when_there_is_room(
    disk: SmallDisk,
) -> None:
    url = f"surrealkv://{disk.folder}/data"
    async with opened(url) as store:
        await store.commit(full_change())
        kept = ["mem-1", "mem-2", *await fill_up(store, disk)]

        assert not store.health().writable
        assert "full" in str(store.health().detail)
        with pytest.raises(StoreFull):
            await store.commit(Change(OWNER, put_memories=[memory("small", "x")]))
        memories = (await store.graph(OWNER, SOUL)).memories  # reading goes on
        assert sorted(stored.id for stored in memories) == sorted(kept)

        disk.remount("size=24m")
        await store.commit(Change(OWNER, put_memories=[memory("later", "x")]))
        assert store.health().writable
    async with opened(url) as store:
        assert sorted(stored.id for stored in (await store.graph(OWNER, SOUL)).memories) == sorted(
            [*kept, "later"]
        )


async def test_a_kill_after_a_full_disk_leaves_what_was_acknowledged_and_no_more(
    disk: SmallDisk,
) -> None:
    """A record cut short must not hide those written behind it, nor come back with the next one."""
    url = f"surrealkv://{disk.folder}/data"
    async with opened(url) as store:
        await store.commit(full_change())
        kept = ["mem-1", "mem-2", *await fill_up(store, disk)]
        copies = [disk.folder / "full", disk.folder / "later"]
        disk.remount("size=24m")
        await asyncio.to_thread(shutil.copytree, disk.folder / "data", copies[0])
        await store.commit(Change(OWNER, put_memories=[memory("later", "x")]))
        await asyncio.to_thread(shutil.copytree, disk.folder / "data", copies[1])

    for copy, expected in zip(copies, (kept, [*kept, "later"]), strict=True):
        async with opened(f"surrealkv://{copy}") as store:
            memories = (await store.graph(OWNER, SOUL)).memories
            assert sorted(stored.id for stored in memories) == sorted(expected)


@pytest.mark.parametrize("room", [True, False])
async def test_closing_after_a_full_disk_does_not_store_what_was_refused(
    disk: SmallDisk, room: bool
) -> None:
    url = f"surrealkv://{disk.folder}/data"
    async with opened(url) as store:
        await store.commit(full_change())
        kept = ["mem-1", "mem-2", *await fill_up(store, disk)]
        if room:
            disk.remount("size=24m")

    await settled(disk.folder)
    disk.remount("size=24m")
    async with opened(url) as store:
        memories = (await store.graph(OWNER, SOUL)).memories
        assert sorted(memory.id for memory in memories) == sorted(kept)


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


async def test_without_room_for_a_new_start_the_log_is_left_and_writers_are_told(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        before = await snapshot(store)
        with monkeypatch.context() as patch:
            patch.setattr(connection_module, "QUIET_LOG_LIMIT", 1000)
            patch.setattr(connection_module, "ROOM", 1 << 60)
            await store.maintain()
            assert not store.health().writable
            with pytest.raises(StoreFull, match=r"MiB must be free"):
                await store.commit(Change(OWNER, put_memories=[memory("no")]))
            assert await snapshot(store) == before
        await store.commit(Change(OWNER, put_memories=[memory("yes")]))
        assert store.health().writable
