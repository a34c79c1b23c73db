"""Files on disk: written so that they outlast a power cut, read by their owner alone, with errors in words."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.phrases import Phrase, phrase

_OTHERS = 0o077
_FIRST_WORD = re.compile(r"[a-z]*")


def create_private_files() -> None:
    """From now on what this process and its children make is readable by its owner alone."""
    os.umask(_OTHERS)


def make_private(folder: Path, own: Collection[str]) -> None:
    """Take other accounts' rights to the entries of the folder whose names begin with a word of `own`.

    The folder itself is made private if it holds nothing else: it may be one that the user shares. What
    cannot be changed, like files of another owner, stays as it is.
    """
    if os.name == "nt":
        return
    with suppress(OSError):
        names = [entry.name for entry in os.scandir(folder)]
        ours = [name for name in names if _FIRST_WORD.match(name)[0] in own]  # type: ignore[index]
        for name in ours:
            for path in _with_all_in_it(folder / name):
                _close(path)
        if ours == names:
            _close(folder)


def _with_all_in_it(path: Path) -> Iterator[Path]:
    yield path
    for folder, _, files in os.walk(path):
        yield Path(folder)
        yield from (Path(folder) / name for name in files)


def _close(path: Path) -> None:
    with suppress(OSError):
        mode = path.lstat().st_mode
        if mode & _OTHERS and not path.is_symlink():
            path.chmod(mode & 0o777 & ~_OTHERS)


_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def folder_error(folder: object, error: OSError) -> StoreError:
    """For a folder in which nothing can be written: StoreFull when its disk is full."""
    reason = error.strerror or str(error)
    if error.errno in _DISK_FULL:
        return StoreFull(
            phrase(
                "folder_disk_full",
                "the disk of {folder} is full: free some space, then try again ({reason})",
                folder=folder,
                reason=reason,
            )
        )
    return StoreError(
        phrase(
            "folder_unusable",
            "{folder} cannot be used: make it writable for you ({reason})",
            folder=folder,
            reason=reason,
        )
    )


def snapshot_error(error: OSError) -> StoreError:
    """For a snapshot that is not written: StoreFull when the disk is full."""
    no_room = phrase("snapshot_no_room", "the disk has no room for a snapshot of the soul's memory")
    other = phrase(
        "snapshot_unwritten",
        "a snapshot of the soul's memory could not be written: {error}",
        error=error,
    )
    return _one_of(error, no_room, other)


def token_file_error(error: OSError) -> StoreError:
    """For token states that are not written: StoreFull when the disk is full."""
    no_room = phrase("tokens_no_room", "the disk has no room for the token states of a soul")
    other = phrase(
        "tokens_unwritten",
        "the token states of a soul cannot be written: {error}",
        error=error,
    )
    return _one_of(error, no_room, other)


def _one_of(error: OSError, no_room: Phrase, other: Phrase) -> StoreError:
    return StoreFull(no_room) if error.errno in _DISK_FULL else StoreError(other)


def replace_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write the whole file or leave it as it was, also if the power is cut. Raises OSError.

    mode  the permissions of the file, from which the umask takes some
    """
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Write the folder's entries to disk, for new and renamed files. Has no effect on Windows."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
