"""Are the right backups kept, and none that is not whole?"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.adapters import backup_folder
from soulmem.adapters.backup_folder import Backup, BackupFolder, Rotation, _kept
from soulmem.domain.errors import StoreBroken, StoreError, StoreFull

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
HOURS = st.lists(st.integers(0, 24 * 60), min_size=1, max_size=60, unique=True)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """What looks like a store."""
    folder = tmp_path / "store"
    (folder / "manifest").mkdir(parents=True)
    (folder / "manifest" / "0").write_bytes(b"list")
    (folder / "sstables").mkdir()
    (folder / "sstables" / "1").write_bytes(os.urandom(5000))
    (folder / "wal").mkdir()
    (folder / "LOCK").write_text("123")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Its files by their path."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def make(
    backups: BackupFolder, source: Path, made: datetime = NOON, *, upgrade: bool = False
) -> Backup:
    """A backup of `source`."""
    place = backups.place_for_copy(source)
    backups.copy(source, place)
    return backups.pack(place, made, upgrade=upgrade)


def test_what_is_packed_comes_out_the_same(tmp_path: Path, source: Path) -> None:
    backups = BackupFolder(tmp_path / "backups")
    made = make(backups, source)
    assert backups.all() == [made]
    assert [p.name for p in backups.folder.iterdir()] == ["soulmem-20260501T120000Z.tar.gz"]
    backups.unpack(made.path, tmp_path / "out")
    expected = files(source)
    del expected["LOCK"]  # the one thing that is of the running process
    assert files(tmp_path / "out") == expected
    assert (tmp_path / "out" / "wal").is_dir()


@given(hours=HOURS, daily=st.integers(0, 9), weekly=st.integers(0, 6))
def test_of_the_last_days_and_weeks_the_newest_is_kept(
    hours: list[int], daily: int, weekly: int
) -> None:
    made = [
        Backup(Path(str(hour)), NOON + timedelta(hours=hour))
        for hour in sorted(hours, reverse=True)
    ]
    kept = _kept(made, Rotation(daily, weekly))
    by_day: dict[object, Backup] = {}
    by_week: dict[object, Backup] = {}
    for backup in made:
        by_day.setdefault(backup.made.date(), backup)
        by_week.setdefault(backup.made.strftime("%G %V"), backup)
    last_day = [backup for backup in made if backup.made.date() == made[0].made.date()][
        : 2 if daily else 0
    ]
    assert kept == {
        *last_day,
        *list(by_day.values())[:daily],
        *list(by_week.values())[:weekly],
    }
    assert daily + weekly == 0 or made[0] in kept
    again = [backup for backup in made if backup in kept]
    assert _kept(again, Rotation(daily, weekly)) == kept


@given(days=st.integers(1, 60))
def test_a_backup_a_day_leaves_no_more_than_the_rotation_says(days: int) -> None:
    kept: list[Backup] = []
    for day in range(days):
        backup = Backup(Path(str(day)), NOON + timedelta(days=day))
        kept = sorted(_kept([backup, *kept], Rotation(7, 4)), key=lambda b: b.made, reverse=True)
    ages = [(NOON + timedelta(days=days - 1) - backup.made).days for backup in kept]
    assert len(kept) <= 11
    assert ages[: min(days, 7)] == list(range(min(days, 7)))
    assert days < 28 or max(ages) >= 15  # three weeks before the present one


def test_backups_before_upgrades_outlive_the_days(tmp_path: Path, source: Path) -> None:
    backups = BackupFolder(tmp_path / "backups", Rotation(daily=1, weekly=0, upgrades=2))
    for day in range(4):
        make(backups, source, NOON + timedelta(days=day), upgrade=day < 3)
    assert [(backup.made.day, backup.upgrade) for backup in backups.all()] == [
        (4, False),
        (3, True),
        (2, True),
    ]


def test_other_files_are_left_alone(tmp_path: Path, source: Path) -> None:
    backups = BackupFolder(tmp_path / "backups", Rotation(daily=1, weekly=0))
    backups.folder.mkdir()
    for name in ("mine.txt", "soulmem-20200101T000000Z.tar.gz.bak", "soulmem-1.tar.gz"):
        (backups.folder / name).write_text("mine")
    make(backups, source)
    make(backups, source, NOON + timedelta(days=1))
    assert len(list(backups.folder.iterdir())) == 4


def test_what_a_kill_left_is_no_backup_and_goes(tmp_path: Path, source: Path) -> None:
    backups = BackupFolder(tmp_path / "backups")
    made = make(backups, source)
    (backups.folder / "soulmem-20260502T120000Z.tar.gz.part").write_bytes(
        made.path.read_bytes()[:100]
    )
    backups.copy(source, backups.place_for_copy(source))
    assert backups.all() == [made]
    backups.tidy()
    assert list(backups.folder.iterdir()) == [made.path]


def test_without_room_none_is_begun(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups = BackupFolder(tmp_path / "backups")
    monkeypatch.setattr(backup_folder, "_RESERVED", 1 << 60)
    with pytest.raises(StoreFull, match=r"no backup was made: .* MiB are needed"):
        backups.place_for_copy(source)


@pytest.mark.parametrize("step", ["copy", "pack"])
def test_a_disk_that_fills_up_meanwhile_leaves_nothing_behind(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    backups = BackupFolder(tmp_path / "backups")
    make(backups, source)
    before = files(backups.folder)

    def no_room(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree" if step == "copy" else "os.fsync", no_room)
    with pytest.raises(StoreFull, match="is full"):
        make(backups, source, NOON + timedelta(days=1))
    assert files(backups.folder) == before
    assert [p.name for p in backups.folder.iterdir()] == list(before)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, source: Path) -> None:
    (tmp_path / "backups").write_text("a file")
    with pytest.raises(StoreError, match=r"no backup was made: .*backups"):
        make(BackupFolder(tmp_path / "backups"), source)


def cut(data: bytes) -> bytes:
    """The first half."""
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    """With some bytes of the middle changed."""
    middle = len(data) // 2
    return data[:middle] + bytes(255 - b for b in data[middle : middle + 20]) + data[middle + 20 :]


@pytest.mark.parametrize(
    "damage", [cut, flipped, lambda _: b"", lambda _: b"garbage" * 100, gzip.compress]
)
def test_a_damaged_backup_is_said_to_be_one(
    tmp_path: Path, source: Path, damage: Callable[[bytes], bytes]
) -> None:
    backups = BackupFolder(tmp_path / "backups")
    made = make(backups, source)
    made.path.write_bytes(damage(made.path.read_bytes()))
    with pytest.raises(StoreBroken, match="is damaged"):
        backups.unpack(made.path, tmp_path / "out")


@pytest.mark.parametrize(
    "name", ["../evil", "store/../../evil", "/evil", "store/a/../../../evil", "other/x"]
)
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE])
def test_a_file_of_a_stranger_writes_nothing_outside(
    tmp_path: Path, name: str, kind: bytes
) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = (
        kind,
        "/etc/passwd",
        4 if kind == tarfile.REGTYPE else 0,
    )
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as tar:
        tar.addfile(member, io.BytesIO(b"evil"))
    with pytest.raises(StoreBroken, match="damaged"):
        BackupFolder(tmp_path).unpack(tmp_path / "x.tar.gz", tmp_path / "deep" / "out")
    assert [p for p in tmp_path.rglob("*") if "evil" in p.name] == []
