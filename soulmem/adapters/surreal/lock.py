"""Whether a process has a store open, by the lock on its folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

_CLOSE_SECONDS = 10.0  # for the engine to close its files
_CHECK_SECONDS = 0.1  # between two checks whether it has


def is_locked(folder: Path) -> bool:
    """Whether a process has the store in `folder` open; False if that cannot be found out."""
    try:
        import fcntl

        with (folder / "LOCK").open("rb+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    except (ImportError, OSError):
        pass
    return False


async def released(folder: Path) -> bool:
    """Wait until the engine has closed the store in `folder`; False if it does not in ten seconds."""
    for _ in range(int(_CLOSE_SECONDS / _CHECK_SECONDS)):
        if not await asyncio.to_thread(is_locked, folder):
            return True
        await asyncio.sleep(_CHECK_SECONDS)
    return False
