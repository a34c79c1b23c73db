"""What runs beside each other share: the installed SillyTavern with the plugin in it, and the test files.

Runs that name the same folder in `SOULMEM_E2E_SHARE` are of one working tree: each test file is run by
the first of them that comes to it.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

_SHARE = os.environ.get("SOULMEM_E2E_SHARE")
# Whose plugin stands in the kept SillyTavern: runs that share test files share it, too.
_GROUP = _SHARE or uuid.uuid4().hex


@cache
def is_ours(test_file: Path) -> bool:
    """Whether this run has to run the test file; a file that no other run has taken is taken."""
    if _SHARE is None:
        return True
    try:
        Path(_SHARE, test_file.name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def announce(test_files: Iterable[Path]) -> None:
    """Leave the list of the test files that a run has to go through, the same for all that share them."""
    if _SHARE is not None:
        names = sorted({file.name for file in test_files})
        Path(_SHARE, "chosen.txt").write_text("\n".join(names), "utf-8")


@contextmanager
def installed(
    lock: Path,
    install: Callable[[], None],
    remove: Callable[[], None],
    group: str = _GROUP,
) -> Iterator[None]:
    """Wait until no run of another group uses what `lock` guards, and hold it.

    The first run of a group installs, the last one removes. The system lets go of the lock when a run is
    killed.
    """
    with lock.open("a+") as file:
        _hold(file, install, group)
        yield
        if _is_last(file):
            remove()
            file.truncate(0)


if sys.platform == "win32":
    import msvcrt

    def _hold(file: IO[str], install: Callable[[], None], group: str) -> None:
        """Windows has no lock that several runs can hold: groups of one run."""
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        install()

    def _is_last(file: IO[str]) -> bool:
        return True

else:
    import fcntl

    def _hold(file: IO[str], install: Callable[[], None], group: str) -> None:
        """Hold the lock with the runs of this group; the file holds the name of the group."""
        fcntl.flock(file, fcntl.LOCK_SH)
        while not _names(file, group):
            fcntl.flock(file, fcntl.LOCK_UN)
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _names(file, group):
                install()
                file.truncate(0)
                file.write(group)
                file.flush()
            # Another group may come in between: then all of it once more.
            fcntl.flock(file, fcntl.LOCK_UN)
            fcntl.flock(file, fcntl.LOCK_SH)

    def _names(file: IO[str], group: str) -> bool:
        file.seek(0)
        return file.read() == group

    def _is_last(file: IO[str]) -> bool:
        """Whether no other run holds the lock; if so, this one holds it alone."""
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False
