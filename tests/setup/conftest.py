"""A folder of its own for the installer, with pip and venv replaced by a record of what was asked of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import installer


class Commands:
    """Stands where installer.run stands: notes each command, and fails or breaks off where told."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.failures: dict[
            str, str | BaseException
        ] = {}  # by a word of the command: what pip says, or a break

    def __call__(
        self, command: Sequence[object], quiet: bool = False
    ) -> tuple[int, str]:
        words = [str(word) for word in command]
        self.asked.append(words)
        for word, failure in self.failures.items():
            if word in words:
                if isinstance(failure, BaseException):
                    raise failure
                return 1, failure
        if words[1:3] == ["-m", "venv"]:
            installer.PYTHON.parent.mkdir(parents=True)
            installer.PYTHON.symlink_to(sys.executable)
        if "--report" in words:
            Path(words[words.index("--report") + 1]).write_text(
                '{"install": []}', encoding="utf-8"
            )
        return 0, ""

    def installs(self) -> list[str]:
        """What pip was asked to install, without looks and without its options."""
        return [
            words[-1]
            for words in self.asked
            if "pip" in words and "--dry-run" not in words
        ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with nothing but what the installer reads; the installer works there."""
    clone = tmp_path / "clone"
    (clone / ".ci").mkdir(parents=True)
    (clone / ".ci" / "constraints.txt").write_text("one==1\n", encoding="utf-8")
    (clone / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    venv = clone / ".venv"
    monkeypatch.setattr(installer, "HERE", clone)
    monkeypatch.setattr(installer, "VENV", venv)
    monkeypatch.setattr(installer, "PYTHON", venv / "bin" / "python")
    monkeypatch.setattr(installer, "STAMP", venv / "soulmem-installed.json")
    monkeypatch.setattr(installer, "CONSTRAINTS", clone / ".ci" / "constraints.txt")
    monkeypatch.setattr(installer, "SPACE", dict.fromkeys(installer.SPACE, 0))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return clone


@pytest.fixture
def commands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """The record, in place of real commands."""
    record = Commands()
    monkeypatch.setattr(installer, "run", record)
    return record
