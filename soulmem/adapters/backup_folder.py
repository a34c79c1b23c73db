"""Backups of the store as compressed files in a folder. Each is complete; old ones are deleted."""

from __future__ import annotations

import errno
import gzip
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path

from soulmem.adapters.disk_files import sync_folder
from soulmem.domain.calendar import utc
from soulmem.domain.errors import StoreBroken, StoreError, StoreFull
from soulmem.domain.phrases import phrase

_NAME = re.compile(r"soulmem-(\d{8}T\d{6}Z)(-upgrade)?\.tar\.gz\Z")
_STAMP = "%Y%m%dT%H%M%SZ"
_UNFINISHED = ".part"  # end of the name of an unfinished file or folder
_RESERVED = 64 << 20  # bytes of the disk that a backup leaves free for the store
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_GZIP_LEVEL = 1  # level 2 takes twice as long and saves a tenth


@dataclass(frozen=True, slots=True)
class Rotation:
    """How many backups are kept: one for each of the last days and weeks, and those made before upgrades."""

    daily: int = 7
    weekly: int = 4
    upgrades: int = 2


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup file."""

    path: Path
    made: datetime
    upgrade: bool = False  # made before another version of SoulMem opened the store


class BackupFolder:
    """Backups in `folder`, which is created with the first one. Other files in it are not touched."""

    def __init__(self, folder: Path, rotation: Rotation | None = None) -> None:
        self.folder = folder
        self._rotation = rotation or Rotation()

    def all(self) -> list[Backup]:
        """The complete backups, newest first."""
        backups = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                match = _NAME.match(path.name)
                if match and (made := _moment(match[1])) is not None:
                    backups.append(Backup(path, made, bool(match[2])))
        return sorted(backups, key=lambda backup: (backup.made, backup.upgrade), reverse=True)

    def tidy(self) -> None:
        """Remove unfinished files. Only call this while nothing else writes here."""
        with suppress(OSError):
            for path in self.folder.glob(f"*{_UNFINISHED}"):
                with suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def place_for_copy(self, source: Path) -> Path:
        """A path to copy `source` to before it is packed. Raises StoreFull, StoreError."""
        size = _size(source)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise self._refused(error) from error
        needed = 2 * size + _RESERVED
        if free < needed:
            raise StoreFull(
                phrase(
                    "backup_needs_room",
                    "no backup was made: the disk of {folder} has {free} MiB free, and {needed} MiB are needed",
                    folder=self.folder,
                    free=free >> 20,
                    needed=needed >> 20,
                )
            )
        return self.folder / f"copy{_UNFINISHED}"

    def copy(self, source: Path, place: Path) -> None:
        """Copy the files of a store. Nothing may write to it meanwhile. Raises StoreFull, StoreError."""
        try:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("LOCK"))
        except (OSError, shutil.Error) as error:
            shutil.rmtree(place, ignore_errors=True)
            raise self._refused(error) from error

    def pack(self, place: Path, made: datetime, *, upgrade: bool = False) -> Backup:
        """Pack the copy into one file and delete backups that are too old. Raises StoreFull, StoreError."""
        stamp = utc(made).strftime(_STAMP)
        path = self.folder / f"soulmem-{stamp}{'-upgrade' if upgrade else ''}.tar.gz"
        unfinished = path.with_name(path.name + _UNFINISHED)
        try:
            with unfinished.open("wb") as file:
                with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_GZIP_LEVEL) as tar:
                    tar.add(place, arcname="store")
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
            sync_folder(self.folder)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise self._refused(error) from error
        finally:
            shutil.rmtree(place, ignore_errors=True)
        self.rotate()
        return Backup(path, made, upgrade)

    def rotate(self) -> None:
        """Delete the backups that the rotation does not keep."""
        backups = self.all()
        for backup in set(backups) - _kept(backups, self._rotation):
            with suppress(OSError):  # the next rotation tries again
                backup.path.unlink()

    def unpack(self, backup: Path, target: Path) -> None:
        """Unpack the store into the new folder `target`. Raises StoreBroken, StoreError."""
        try:
            with gzip.open(backup) as packed:
                with tarfile.open(fileobj=packed, mode="r|") as tar:
                    for member in tar:
                        _unpack(tar, member, target)
                while packed.read(1 << 20):  # gzip checks its checksum at the end
                    pass
        except (
            tarfile.TarError,
            gzip.BadGzipFile,
            zlib.error,
            EOFError,
            ValueError,
        ) as error:
            raise StoreBroken(
                phrase(
                    "backup_damaged",
                    "the backup {backup} is damaged ({error}): choose another",
                    backup=backup,
                    error=error,
                )
            ) from error
        except OSError as error:
            raise self._refused(error, f"the backup {backup} could not be unpacked") from error

    def _refused(
        self, error: OSError | shutil.Error, what: str = "no backup was made"
    ) -> StoreError:
        reason = getattr(error, "strerror", None) or str(error)
        is_full = getattr(error, "errno", None) in _DISK_FULL
        if is_full or "No space left" in str(error):
            return StoreFull(
                phrase(
                    "backup_disk_full",
                    "{what}: the disk of {folder} is full, free some space ({reason})",
                    what=what,
                    folder=self.folder,
                    reason=reason,
                )
            )
        return StoreError(
            phrase(
                "backup_folder_unusable",
                "{what}: {folder} cannot be used ({reason})",
                what=what,
                folder=self.folder,
                reason=reason,
            )
        )


def _kept(newest_first: Sequence[Backup], rotation: Rotation) -> set[Backup]:
    """The newest backup of each of the last days and weeks that have one, and the last ones before upgrades.
    Of the last day the two newest are kept, in case one is damaged.
    """
    by_day: dict[date, Backup] = {}
    by_week: dict[tuple[int, int], Backup] = {}
    for backup in newest_first:
        year, week, _ = backup.made.isocalendar()
        by_day.setdefault(backup.made.date(), backup)
        by_week.setdefault((year, week), backup)
    upgrades = [backup for backup in newest_first if backup.upgrade]
    today = [backup for backup in newest_first if backup.made.date() == newest_first[0].made.date()]
    return {
        *today[: min(2, 2 * rotation.daily)],
        *list(by_day.values())[: rotation.daily],
        *list(by_week.values())[: rotation.weekly],
        *upgrades[: rotation.upgrades],
    }


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Unpack one file or folder below `store`. Raises ValueError for anything else."""
    first, *rest = member.name.split("/")
    if first != "store" or any(
        part in ("", ".", "..") or "\\" in part or ":" in part for part in rest
    ):
        raise ValueError("it contains something that is not part of a backup")
    path = target.joinpath(*rest)
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return
    source = tar.extractfile(member) if member.isreg() else None
    if source is None:
        raise ValueError("it contains something that is not part of a backup")
    path.parent.mkdir(parents=True, exist_ok=True)
    with source, path.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())


def _size(folder: Path) -> int:
    """Bytes of the files in the folder. Files may vanish meanwhile."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            size += path.stat().st_size if path.is_file() else 0
    return size


def _moment(stamp: str) -> datetime | None:
    """When a backup of that name was made; None for digits that are no date."""
    try:
        return datetime.strptime(stamp, _STAMP).replace(tzinfo=timezone.utc)
    except ValueError:
        return None
