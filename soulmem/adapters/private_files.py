"""Keeps the data folder to its owner: nobody else on the machine can read it (POSIX; Windows inherits rights)."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

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
