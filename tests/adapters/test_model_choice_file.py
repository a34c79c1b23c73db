"""The file of the chosen model: read back as written, private, and never in the way of a start."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from soulmem.adapters.model_choice_file import JsonModelChoice
from soulmem.domain.llm import ModelChoice, ModelUse

CHOICE = ModelChoice(ModelUse.SERVER, "qwen", "http://127.0.0.1:5001/v1", "secret")


def test_a_choice_comes_back_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    """The key in it is private; nothing half-written stays beside it."""
    path = tmp_path / "data" / "model.json"
    stored = JsonModelChoice(path)
    assert stored.read() == ModelChoice()
    stored.write(CHOICE)
    assert JsonModelChoice(path).read() == CHOICE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    stored.write(ModelChoice(ModelUse.CLIENT))
    assert stored.read() == ModelChoice(ModelUse.CLIENT)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "{}",
        '{"use": "magic", "model": "", "base_url": "", "api_key": ""}',
        '{"use": "server", "model": "", "base_url": "", "api_key": ""}',
    ],
)
def test_a_broken_file_is_left_aside(tmp_path: Path, text: str) -> None:
    """SoulMem starts with the model of the settings."""
    path = tmp_path / "model.json"
    path.write_text(text)
    assert JsonModelChoice(path).read() == ModelChoice()
