"""The repository as it is committed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top folder."""
    return REPOSITORY


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """Every file that git tracks and that is still there, relative to the top folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return [
        Path(name) for name in listed.stdout.split("\0") if name and (REPOSITORY / name).is_file()
    ]
