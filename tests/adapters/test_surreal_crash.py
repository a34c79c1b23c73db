"""What is left after a kill or damage, and who may open a folder."""

from __future__ import annotations

import asyncio
import random
from itertools import product
from pathlib import Path

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.errors import (
    StoreBroken,
    StoreLocked,
)
from soulmem.ports.store import Change
from tests.adapters.surreal_tools import child, killed_while_writing, opened, settled
from tests.ports.stores import CHAT, OWNER, SOUL, full_change, memory, soul


@pytest.mark.parametrize(("commits", "pause"), [(3, 0.0), (20, 0.002), (60, 0.009)])
async def test_nothing_acknowledged_is_lost_by_kill_9(url: str, commits: int, pause: float) -> None:
    last = await killed_while_writing(url, commits, pause)
    async with opened(url) as store:
        graph = await store.graph(OWNER, SOUL)
        memories = {memory.id for memory in graph.memories}
        slots = {ranked.message.slot for ranked in await store.messages(OWNER, CHAT)}

        assert last >= commits
        assert {f"m{number}" for number in range(-1, last + 1)} <= memories
        # and no change is stored in part
        assert {f"m{slot.removeprefix('slot-')}" for slot in slots} | {"m-1"} == memories
        assert {edge.target for edge in graph.edges} | {"m-1"} == memories


async def test_a_second_process_is_told_that_soulmem_runs_already(url: str, tmp_path: Path) -> None:
    async with opened(url) as store:
        process = await child("open", url)
        output, _ = await process.communicate()
        assert output.decode().startswith(
            "StoreLocked: SoulMem is already running on this data folder"
        )
        assert str(tmp_path / "data") in output.decode()
        assert "--data" in output.decode()
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


@pytest.mark.parametrize(
    ("part", "how"),
    [
        ("manifest", "half"),
        ("sstables", "bits"),
        *(
            pytest.param(part, how, marks=pytest.mark.nightly)
            for part, how in (
                ("manifest", "bits"),
                ("sstables", "half"),
                *product(("manifest", "sstables"), ("garbage", "empty")),
            )
        ),
    ],
)
async def test_a_damaged_store_is_said_to_be_broken(
    url: str, tmp_path: Path, part: str, how: str
) -> None:
    async with opened(url) as store:
        await store.commit(full_change())
        await store.commit(Change(OWNER, put_memories=[memory(f"m{n}") for n in range(100)]))
    await settled(tmp_path / "data")
    damaged(tmp_path / "data", part, how)

    process = await child(
        "open", url
    )  # of its own, as the engine aborts the process on some damage
    output, _ = await process.communicate()
    assert output.decode().startswith("StoreBroken: ")
    assert "cannot be read: stop SoulMem and restore a backup" in output.decode()
    assert str(tmp_path / "data") in output.decode()


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
