"""Is a file written whole, or left as it was?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from soulmem.adapters.disk_files import replace_file


def test_a_file_is_replaced_and_has_the_permissions_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "choice.json"
    path.write_text("old")
    replace_file(path, b"new", 0o600)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that was being written must not stay on the disk."""
    path = tmp_path / "choice.json"
    path.write_text("old")

    def is_full(_handle: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", is_full)
    with pytest.raises(OSError, match="no space left"):
        replace_file(path, b"secret")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
