"""A folder of its own for the installer, with pip and venv replaced by a record of what was asked of them."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import installer

PARTS = ("tools", "base", "test", "mcp", "model")


class Commands:
    """Stands where installer.run stands: notes each command, and fails or breaks off where told."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.failures: dict[
            str, str | BaseException
        ] = {}  # by a word of the command: what pip says, or a break
        self.outputs: dict[str, str] = {}  # by a word of the command: its stdout
        self.extras: dict[str, Mapping[str, str]] = {}  # by program: its variables

    def __call__(
        self, command: Sequence[object], extra: Mapping[str, str] | None = None
    ) -> tuple[int, str, str]:
        words = [str(word) for word in command]
        if "-r" in words:  # the file is gone afterwards
            chosen = Path(words[words.index("-r") + 1]).read_text(encoding="utf-8")
            words += re.findall(r"^([a-z]+)==", chosen, re.MULTILINE)
        self.asked.append(words)
        self.extras[words[0]] = extra or {}
        for word, failure in self.failures.items():
            if word in words:
                if isinstance(failure, BaseException):
                    raise failure
                return 1, "", failure
        if words[1:3] == ["-m", "venv"]:
            installer.PYTHON.parent.mkdir(parents=True)
            installer.PYTHON.symlink_to(sys.executable)
        if "--report" in words:
            Path(words[words.index("--report") + 1]).write_text('{"install": []}', encoding="utf-8")
        printed = [text for word, text in self.outputs.items() if word in words]
        return 0, "".join(printed), ""

    def installs(self) -> list[str]:
        """The last thing that each call of pip or uv was to install, without looks."""
        return [
            words[-1] for words in self.asked if "install" in words and "--dry-run" not in words
        ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with nothing but what the installer reads; the installer works there."""
    clone = tmp_path / "clone"
    (clone / ".ci").mkdir(parents=True)
    (clone / ".ci" / "constraints.txt").write_text("one==1\n", encoding="utf-8")
    blocks = [f"# for: {part}\n{part}pin==1 \\\n    --hash=sha256:0\n" for part in PARTS]
    (clone / ".ci" / "locked.txt").write_text("".join(blocks), encoding="utf-8")
    (clone / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    venv = clone / ".venv"
    monkeypatch.setattr(installer, "HERE", clone)
    monkeypatch.setattr(installer, "VENV", venv)
    monkeypatch.setattr(installer, "PYTHON", venv / "bin" / "python")
    monkeypatch.setattr(installer, "STAMP", venv / "soulmem-installed.json")
    monkeypatch.setattr(installer, "CONSTRAINTS", clone / ".ci" / "constraints.txt")
    monkeypatch.setattr(installer, "LOCKED", clone / ".ci" / "locked.txt")
    monkeypatch.setattr(installer, "LOG", venv / "install.log")
    monkeypatch.setattr(installer, "LOCK", clone / ".venv.lock")
    monkeypatch.setattr(installer, "SPACE", dict.fromkeys(installer.SPACE, 0))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setattr(shutil, "which", lambda name: None)  # no uv
    return clone


@pytest.fixture
def commands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """The record, in place of real commands."""
    record = Commands()
    monkeypatch.setattr(installer, "run", record)
    return record
