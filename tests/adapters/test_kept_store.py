"""What becomes of a store that is damaged, half there, or taken over by another version?"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from soulmem.adapters import backup_folder
from soulmem.adapters.backup_folder import Backup, BackupFolder
from soulmem.adapters.surreal.kept import MARKER, KeptStore
from soulmem.adapters.surreal.lock import is_locked
from soulmem.adapters.surreal.restoring import restore_store
from soulmem.adapters.surreal.schema import VERSION
from soulmem.domain.errors import (
    NotFound,
    StoreBroken,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreTooNew,
    StoreTooOld,
)
from soulmem.ports.store import Change
from tests.adapters.surreal_tools import settled
from tests.adapters.test_surreal_crash import damaged
from tests.ports.stores import OWNER, SOUL, full_change, memory, snapshot

pytestmark = pytest.mark.timeout(60)


class Place:
    """A data folder with a store in it."""

    def __init__(self, data: Path) -> None:
        self.data, self.folder = data, data / "store"
        self.backups = BackupFolder(data / "backups")

    def store(self) -> KeptStore:
        """Another handle."""
        return KeptStore(self.data, "store", self.backups)

    async def found(self) -> list[Backup]:
        """All backups, newest first."""
        return await asyncio.to_thread(self.backups.all)

    async def picture(self) -> Any:
        """All that is stored, by a handle of its own."""
        store = self.store()
        await store.open()
        try:
            return await snapshot(store)
        finally:
            await self.closed(store)

    async def closed(self, store: KeptStore) -> None:
        """Close it, and wait until its files are let go."""
        await store.close()
        await settled(self.folder)

    def files(self) -> dict[str, bytes]:
        """The store's files, but for the lock."""
        every = [path for path in self.folder.rglob("*") if path.is_file() and path.name != "LOCK"]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in every}


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    """A store with something in it, and one backup of that."""
    folders = Place(tmp_path / "data folder")
    store = folders.store()
    await store.open()
    await store.commit(full_change())
    await store.commit(Change(OWNER, put_memories=[memory(f"m{n}", "x" * 300) for n in range(200)]))
    await store.make(datetime.now(timezone.utc))
    await folders.closed(store)
    return folders


async def test_a_backup_made_while_the_store_is_in_use_is_what_was_stored_then(
    place: Place,
) -> None:
    """Between two commits of a busy writer: each is in it whole or not at all, and it goes on undisturbed."""
    store = place.store()
    await store.open()
    written = 0

    async def write() -> None:
        nonlocal written
        while written < 60:
            await store.commit(
                Change(
                    OWNER,
                    put_memories=[
                        memory(f"a{written}"),
                        memory(f"b{written}", "x" * 2000),
                    ],
                )
            )
            written += 1

    writer = asyncio.ensure_future(write())
    await asyncio.sleep(0.1)
    before = written
    made = await store.make(datetime.now(timezone.utc))
    after = written
    await writer
    await place.closed(store)
    done = await restore_store(place.data, "store", place.backups, Path(made))
    assert done.souls == 1
    store = place.store()
    await store.open()
    ids = {stored.id for stored in (await store.graph(OWNER, SOUL)).memories}
    await place.closed(store)
    numbers = {key[1:] for key in ids if key.startswith("a")}
    assert numbers == {key[1:] for key in ids if key.startswith("b")}
    assert numbers == {str(n) for n in range(len(numbers))}
    assert before <= len(numbers) <= after


@pytest.mark.parametrize("part", ["manifest", "sstables"])
@pytest.mark.parametrize(
    "how",
    [
        pytest.param("garbage", marks=pytest.mark.nightly),
        "half",
        pytest.param("empty", marks=pytest.mark.nightly),
        "gone",
    ],
)
async def test_a_damaged_store_says_the_way_back_and_comes_back(
    place: Place, part: str, how: str
) -> None:
    """Never silently empty, the damaged files untouched, and the way that is told works."""
    before = await place.picture()
    if how == "gone":
        shutil.rmtree(place.folder / part)
    else:
        damaged(place.folder, part, how)
    broken = place.files()

    with pytest.raises(StoreBroken) as caught:
        await place.store().open()
    (newest,) = await place.found()
    for words in (
        str(place.folder),
        str(newest.path),
        f"`soulmem restore --newest --data {place.data}`",
    ):
        assert words in caught.value.message
    with pytest.raises(StoreBroken):  # and it does not become an empty one with the next start
        await place.store().open()

    done = await restore_store(place.data, "store", place.backups)
    assert (done.backup, done.souls, done.passed_over) == (newest.path, 1, [])
    assert await place.picture() == before
    assert done.aside is not None
    kept_aside = {name: (done.aside / name).read_bytes() for name in broken}
    assert kept_aside == broken


async def test_damage_that_only_reading_finds_makes_the_store_read_only(
    tmp_path: Path,
) -> None:
    """It opens, some of it can be read, and health is not well; nothing more is written into it."""
    place = Place(tmp_path)
    store = place.store()
    await store.open()
    await store.commit(full_change())
    for part in range(4):
        many = [memory(f"k{part}n{n}", random.Random(n).randbytes(400).hex()) for n in range(400)]
        await store.commit(Change(OWNER, put_memories=many))
    await store.make(datetime.now(timezone.utc))
    before = await snapshot(store)
    await place.closed(store)
    table = max((place.folder / "sstables").iterdir(), key=lambda file: file.stat().st_size)
    data = bytearray(table.read_bytes())
    for position in range(len(data) * 2 // 5, len(data) * 3 // 5, 20_000):
        data[position : position + 8] = b"\xff" * 8
    table.write_bytes(data)

    store = place.store()
    await store.open()
    assert store.health().writable
    with pytest.raises(StoreBroken, match="cannot be read"):
        await store.graph(OWNER, SOUL)
    assert not store.health().writable
    assert "soulmem restore --newest" in str(store.health().detail)
    with pytest.raises(StoreBroken):
        await store.commit(Change(OWNER, put_memories=[memory("later")]))
    assert len(await store.souls(OWNER)) == 1
    assert not store.health().writable
    await place.closed(store)
    await restore_store(place.data, "store", place.backups)
    assert await place.picture() == before


async def test_a_store_that_is_gone_altogether_is_missed(place: Place) -> None:
    shutil.rmtree(place.folder)
    with pytest.raises(
        StoreBroken, match=r"files of the store in .* are missing.*restore --newest"
    ):
        await place.store().open()
    assert not place.folder.exists()
    assert (await restore_store(place.data, "store", place.backups)).aside is None
    assert len((await place.picture())["souls"]) == 1


async def test_without_a_backup_that_is_said(place: Place) -> None:
    shutil.rmtree(place.backups.folder)
    damaged(place.folder, "sstables", "half")
    with pytest.raises(
        StoreBroken,
        match=r"There is no backup in .*move .* away to start with an empty",
    ):
        await place.store().open()
    with pytest.raises(NotFound, match="no backup"):
        await restore_store(place.data, "store", place.backups)


async def test_a_new_place_is_no_damage(tmp_path: Path) -> None:
    place = Place(tmp_path / "new")
    store = place.store()
    await store.open()
    await store.commit(full_change())
    await place.closed(store)
    assert json.loads((place.data / MARKER).read_text())["schema"] > 0
    assert await place.found() == []
    assert len((await place.picture())["souls"]) == 1
    assert await place.found() == []  # and the same version makes no copy at a start


@pytest.mark.parametrize("schema", [VERSION - 1, VERSION + 1])
async def test_a_store_of_another_schema_is_not_even_opened(place: Place, schema: int) -> None:
    marker = place.data / MARKER
    marked = json.loads(marker.read_text())
    marker.write_text(json.dumps({**marked, "schema": schema}))
    files, backups = place.files(), await place.found()
    with pytest.raises((StoreTooOld, StoreTooNew), match=str(schema)):
        await place.store().open()
    assert (place.files(), await place.found()) == (files, backups)


@pytest.mark.parametrize("was", [None, "not json", {"engine": "2.0.0"}])
async def test_another_version_takes_over_only_after_a_copy(place: Place, was: Any) -> None:
    """That copy is what was there, byte by byte."""
    marker = place.data / MARKER
    marked = json.loads(marker.read_text())
    if isinstance(was, dict):
        marker.write_text(json.dumps({**marked, **was}))
    elif was:
        marker.write_text(was)
    else:
        marker.unlink()
    files = place.files()

    before = await place.picture()
    (upgrade,) = [backup for backup in await place.found() if backup.upgrade]
    await asyncio.to_thread(place.backups.unpack, upgrade.path, place.data / "out")
    out = place.data / "out"
    assert {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()} == files
    assert json.loads(marker.read_text()) == marked
    backups = await place.found()
    assert await place.picture() == before
    assert await place.found() == backups


async def test_without_room_for_that_copy_the_store_is_left_as_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.data / MARKER).unlink()
    files = place.files()
    with monkeypatch.context() as patch:
        patch.setattr(backup_folder, "_RESERVED", 1 << 60)
        with pytest.raises(StoreFull, match=r"the disk of .* MiB are needed"):
            await place.store().open()
        assert place.files() == files
    assert len((await place.picture())["souls"]) == 1


async def test_damaged_backups_are_passed_over(place: Place) -> None:
    before = await place.picture()
    (whole,) = await place.found()
    cut = place.backups.folder / "soulmem-21000101T000000Z.tar.gz"
    cut.write_bytes(whole.path.read_bytes()[:-200])
    empty = place.backups.folder / "soulmem-21000102T000000Z.tar.gz"
    hollow = place.data / "hollow"
    hollow.mkdir()
    await asyncio.to_thread(place.backups.pack, hollow, datetime(2100, 1, 2, tzinfo=timezone.utc))
    done = await restore_store(place.data, "store", place.backups)
    assert [path for path, _ in done.passed_over] == [empty, cut]
    assert done.backup == whole.path
    assert await place.picture() == before
    with pytest.raises(StoreBroken, match="is damaged"):
        await restore_store(place.data, "store", place.backups, cut)
    assert await place.picture() == before
    assert not (place.data / "store.new").exists()


async def test_a_store_in_use_is_not_replaced(place: Place) -> None:
    store = place.store()
    await store.open()
    assert await asyncio.to_thread(is_locked, place.folder)
    with pytest.raises(StoreLocked, match="stop it first"):
        await restore_store(place.data, "store", place.backups)
    await store.commit(Change(OWNER, put_memories=[memory("later")]))
    await place.closed(store)
    assert not await asyncio.to_thread(is_locked, place.folder)


async def test_a_second_start_on_a_store_in_use_copies_and_tidies_nothing(
    place: Place,
) -> None:
    store = place.store()
    await store.open()
    (place.data / MARKER).unlink()
    unfinished = place.backups.folder / "copy.part"
    unfinished.mkdir()
    with pytest.raises(StoreLocked, match="already running"):
        await place.store().open()
    assert unfinished.exists()
    assert len(await place.found()) == 1
    await place.closed(store)


async def test_an_exchange_that_fails_leaves_the_store(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await place.picture()
    plain = Path.rename

    def rename(path: Path, target: Path) -> Path:
        if path.name == "store.new":
            raise OSError(13, "Permission denied")
        return plain(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        with pytest.raises(StoreError, match="could not be replaced"):
            await restore_store(place.data, "store", place.backups)
    assert await place.picture() == before


def test_where_locks_cannot_be_asked_for_nothing_is_said_to_be_locked(
    tmp_path: Path,
) -> None:
    assert not is_locked(tmp_path / "nothing")
