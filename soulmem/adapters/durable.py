"""Writes files that survive a power cut."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


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
