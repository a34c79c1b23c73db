"""Damage of the engine's write-ahead log is seen before the engine cuts it, and a crash is none."""

from __future__ import annotations

import asyncio
import random
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from soulmem.adapters.backup_folder import BackupFolder
from soulmem.adapters.surreal.kept import DAMAGED, SEEN, KeptStore
from soulmem.adapters.surreal.log_scan import SeenLog, damage_of, segments
from soulmem.domain.errors import StoreGone
from soulmem.ports.store import Change
from tests.adapters.surreal_tools import killed_while_writing, settled
from tests.ports.stores import OWNER, SOUL, memory

BLOCK = 32 << 10


def log_of(records: list[bytes]) -> bytes:
    """A segment as the engine writes it."""
    out = bytearray()
    for data in records:
        kind, rest = 1, data
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            piece, rest = rest[: room - 7], rest[room - 7 :]
            if kind == 1 and rest:
                kind = 2
            elif kind in (2, 3):
                kind = 3 if rest else 4
            tail = bytes([kind]) + piece
            out += struct.pack(">IH", zlib.crc32(tail), len(piece)) + tail
            if not rest:
                break
    return bytes(out)


RANDOM = random.Random(4)
RECORDS = [RANDOM.randbytes(size) for size in (3, 900, 20_000, 70_000, 12, 32_000, 5_000)]
WHOLE = log_of(RECORDS)


def damage(folder: Path, data: bytes, seen: int = 0) -> int | None:
    (folder / "00.wal").write_bytes(data)
    report = damage_of(folder, {"00.wal": seen} if seen else {})
    return None if report is None else report.behind


def test_a_whole_log_and_one_that_a_crash_cut_are_no_damage(tmp_path: Path) -> None:
    assert damage(tmp_path, b"") is None
    assert damage(tmp_path, WHOLE, len(WHOLE)) is None
    for cut in (1, 100, 4_999, 20_000):
        assert damage(tmp_path, WHOLE[:-cut]) is None


@pytest.mark.parametrize("position", [0, 4, 6, 7, 500, 930, 40_000, 90_000])
def test_one_bit_is_seen_where_good_records_follow(tmp_path: Path, position: int) -> None:
    data = bytearray(WHOLE)
    data[position] ^= 4
    assert damage(tmp_path, bytes(data))


@pytest.mark.parametrize("begin", [0, 910, 1_000, 33_000])
def test_a_run_of_zeros_is_seen(tmp_path: Path, begin: int) -> None:
    data = WHOLE[:begin] + bytes(4096) + WHOLE[begin + 4096 :]
    assert damage(tmp_path, data)


def test_what_is_shorter_than_it_was_or_gone_is_damaged(tmp_path: Path) -> None:
    assert damage(tmp_path, WHOLE[: len(WHOLE) // 2], len(WHOLE)) == 0
    assert damage(tmp_path, b"", len(WHOLE)) == 0
    (tmp_path / "00.wal").unlink()
    assert damage_of(tmp_path, {"00.wal": 7}) is not None
    (tmp_path / "01.wal").write_bytes(b"")  # the engine moved on
    assert damage_of(tmp_path, {"00.wal": 7}) is None


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def halved(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def harmed(data: Path, harm: Callable[[Path], None]) -> dict[str, bytes]:
    """The log after its latest segment was harmed, which was looked at before."""
    wal = data / "store" / "wal"
    SeenLog(data / SEEN, data / "store").update()
    harm(wal / max(segments(wal)))
    return {name: (wal / name).read_bytes() for name in segments(wal)}


def taken_away(data: Path) -> dict[str, bytes]:
    """The log that was kept aside; its folder is deleted."""
    (aside,) = [path for path in data.iterdir() if path.name.startswith(DAMAGED)]
    files = {name: (aside / name).read_bytes() for name in segments(aside)}
    shutil.rmtree(aside)
    return files


@pytest.mark.parametrize(
    "harm",
    [flipped, pytest.param(halved, marks=pytest.mark.nightly), Path.unlink],
)
async def test_the_damaged_log_is_kept_and_health_says_what_is_missing(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    """After a real kill of a real store."""
    folder = tmp_path / "store"
    last = await killed_while_writing(f"surrealkv://{folder}", 40, 0.0)
    before = await asyncio.to_thread(harmed, tmp_path, harm)

    for _ in range(2):
        store = KeptStore(tmp_path, "store", BackupFolder(tmp_path / "backups"))
        await store.open()
        count = len(await store.memories(OWNER, SOUL))
        (loss,) = store.health().losses
        await store.close()
        await settled(folder)
        assert count < last + 2
        assert "was damaged" in loss
        assert DAMAGED in loss
    assert await asyncio.to_thread(taken_away, tmp_path) == before
    store = KeptStore(tmp_path, "store", BackupFolder(tmp_path / "backups"))
    await store.open()
    assert store.health().losses == ()
    await store.close()


async def test_a_kill_alone_is_no_damage(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    for _ in range(2):
        last = await killed_while_writing(f"surrealkv://{folder}", 10, 0.001)
        store = KeptStore(tmp_path, "store", BackupFolder(tmp_path / "backups"))
        await store.open()
        assert store.health().losses == ()
        assert len(await store.memories(OWNER, SOUL)) >= last
        await store.close()
        await settled(folder)


async def test_a_folder_that_is_taken_away_is_no_place_to_store_anything(
    tmp_path: Path,
) -> None:
    store = KeptStore(tmp_path, "store", BackupFolder(tmp_path / "backups"))
    await store.open()
    await store.commit(Change(OWNER, put_memories=[memory("m1")]))
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreGone, match="moved or deleted"):
        await store.commit(Change(OWNER, put_memories=[memory("m2")]))
    assert not store.health().writable
    assert "moved or deleted" in str(store.health().detail)
    await store.close()


def torn_and_half_repaired(data: Path) -> None:
    """A log that ends in half a record, and the repair of it that a full disk broke off."""
    wal = data / "store" / "wal"
    log = wal / max(segments(wal))
    log.write_bytes(log.read_bytes() + b"\x12\x34\x56\x78\x00\x40\x01half a record")
    (wal / "repair_temp").mkdir()
    (wal / "repair_temp" / log.name).write_bytes(log.read_bytes()[:4096])


async def test_a_repair_that_was_broken_off_costs_nothing(tmp_path: Path) -> None:
    """The engine would go on from its half copy and drop all that is behind it."""
    folder = tmp_path / "store"
    last = await killed_while_writing(f"surrealkv://{folder}", 60, 0.0)
    await asyncio.to_thread(torn_and_half_repaired, tmp_path)

    store = KeptStore(tmp_path, "store", BackupFolder(tmp_path / "backups"))
    await store.open()
    stored = {memory.id for memory in await store.memories(OWNER, SOUL)}
    await store.close()

    assert {f"m{number}" for number in range(-1, last + 1)} <= stored
