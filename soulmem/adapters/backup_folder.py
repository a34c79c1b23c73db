"""Copies of the store as compressed files in a folder: whole or not at all, of which the newest are kept."""

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

from soulmem.adapters.durable import sync_folder
from soulmem.domain.errors import StoreBroken, StoreError, StoreFull

_NAME = re.compile(r"soulmem-(\d{8}T\d{6}Z)(-upgrade)?\.tar\.gz\Z")
_STAMP = "%Y%m%dT%H%M%SZ"
_ASIDE = ".part"  # how the name of anything unfinished ends
_ROOM = (
    64 << 20
)  # bytes of the disk that are left to the store: a backup is worth less than a memory
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_QUICK = 1  # of gzip's levels: the next one takes twice as long for a tenth less


@dataclass(frozen=True, slots=True)
class Rotation:
    """How many are kept: the newest of each of so many days, of so many weeks, and made before upgrades."""

    daily: int = 7
    weekly: int = 4
    upgrades: int = 2


@dataclass(frozen=True, slots=True)
class Backup:
    """One copy."""

    path: Path
    made: datetime
    upgrade: bool = False  # made before another version took the store over


class BackupFolder:
    """Backups in `folder`, which is made when the first one is written. Other files in it are left alone."""

    def __init__(self, folder: Path, rotation: Rotation | None = None) -> None:
        self.folder = folder
        self._rotation = rotation or Rotation()

    def all(self) -> list[Backup]:
        """Those that are whole, newest first."""
        backups = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                match = _NAME.match(path.name)
                if match:
                    made = datetime.strptime(match[1], _STAMP).replace(
                        tzinfo=timezone.utc
                    )
                    backups.append(Backup(path, made, bool(match[2])))
        return sorted(
            backups, key=lambda backup: (backup.made, backup.upgrade), reverse=True
        )

    def tidy(self) -> None:
        """Remove what a stop left unfinished. Nobody else may be writing here."""
        with suppress(OSError):
            for path in self.folder.glob(f"*{_ASIDE}"):
                with suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def place_for_copy(self, source: Path) -> Path:
        """Where `source` may be copied to before it is packed. Raises StoreFull, StoreError."""
        size = _size(source)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise self._refused(error) from error
        if free < 2 * size + _ROOM:
            need = (2 * size + _ROOM) >> 20
            raise StoreFull(
                f"no backup was made: {need} MiB must be free on the disk of {self.folder}, "
                f"{free >> 20} MiB are"
            )
        return self.folder / f"copy{_ASIDE}"

    def copy(self, source: Path, place: Path) -> None:
        """Copy the files of a store that nobody writes to meanwhile. Raises StoreFull, StoreError."""
        try:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("LOCK"))
        except (OSError, shutil.Error) as error:
            shutil.rmtree(place, ignore_errors=True)
            raise self._refused(error) from error

    def pack(self, place: Path, made: datetime, *, upgrade: bool = False) -> Backup:
        """Make the copy one file and let go of those that are too old. Raises StoreFull, StoreError."""
        stamp = made.astimezone(timezone.utc).strftime(_STAMP)
        path = self.folder / f"soulmem-{stamp}{'-upgrade' if upgrade else ''}.tar.gz"
        aside = path.with_name(path.name + _ASIDE)
        try:
            with aside.open("wb") as file:
                with tarfile.open(
                    fileobj=file, mode="w:gz", compresslevel=_QUICK
                ) as tar:
                    tar.add(place, arcname="store")
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
            sync_folder(self.folder)
        except OSError as error:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
            raise self._refused(error) from error
        finally:
            shutil.rmtree(place, ignore_errors=True)
        self.rotate()
        return Backup(path, made, upgrade)

    def rotate(self) -> None:
        """Delete what is older than the rotation keeps."""
        backups = self.all()
        for backup in set(backups) - _kept(backups, self._rotation):
            with suppress(OSError):  # what cannot be removed now goes the next time
                backup.path.unlink()

    def unpack(self, backup: Path, target: Path) -> None:
        """Write the store that the file holds into `target`, which is new. Raises StoreBroken, StoreError."""
        try:
            with gzip.open(backup) as packed:
                with tarfile.open(fileobj=packed, mode="r|") as tar:
                    for member in tar:
                        _unpack(tar, member, target)
                while packed.read(1 << 20):  # to its end, where the checksum stands
                    pass
        except (
            tarfile.TarError,
            gzip.BadGzipFile,
            zlib.error,
            EOFError,
            ValueError,
        ) as error:
            raise StoreBroken(
                f"the backup {backup} is damaged ({error}): choose another"
            ) from error
        except OSError as error:
            raise self._refused(
                error, f"the backup {backup} could not be unpacked"
            ) from error

    def _refused(
        self, error: OSError | shutil.Error, what: str = "no backup was made"
    ) -> StoreError:
        reason = getattr(error, "strerror", None) or str(error)
        if getattr(error, "errno", None) in _NO_ROOM or "No space left" in str(error):
            return StoreFull(
                f"{what}: the disk of {self.folder} is full, free some space ({reason})"
            )
        return StoreError(f"{what}: {self.folder} cannot be used ({reason})")


def _kept(newest_first: Sequence[Backup], rotation: Rotation) -> set[Backup]:
    """Of each of the last days and weeks that have any the newest, and the last ones before upgrades. Of the
    last day the two newest: one of them may turn out to be damaged.
    """
    by_day: dict[date, Backup] = {}
    by_week: dict[tuple[int, int], Backup] = {}
    for backup in newest_first:
        year, week, _ = backup.made.isocalendar()
        by_day.setdefault(backup.made.date(), backup)
        by_week.setdefault((year, week), backup)
    upgrades = [backup for backup in newest_first if backup.upgrade]
    today = [
        backup
        for backup in newest_first
        if backup.made.date() == newest_first[0].made.date()
    ]
    return {
        *today[: min(2, 2 * rotation.daily)],
        *list(by_day.values())[: rotation.daily],
        *list(by_week.values())[: rotation.weekly],
        *upgrades[: rotation.upgrades],
    }


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """One member: a plain file or a folder below `store`. Raises ValueError for anything else."""
    first, *rest = member.name.split("/")
    if first != "store" or any(
        part in ("", ".", "..") or "\\" in part or ":" in part for part in rest
    ):
        raise ValueError("it holds what no backup of SoulMem holds")
    path = target.joinpath(*rest)
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return
    source = tar.extractfile(member) if member.isreg() else None
    if source is None:
        raise ValueError("it holds what no backup of SoulMem holds")
    path.parent.mkdir(parents=True, exist_ok=True)
    with source, path.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())


def _size(folder: Path) -> int:
    """Bytes of the files in it, some of which may go meanwhile."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            size += path.stat().st_size if path.is_file() else 0
    return size
