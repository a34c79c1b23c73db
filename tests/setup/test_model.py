"""Is several GB of PyTorch fetched only when the user said so?"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import installer
from installer import Installed, Wish
from messages import Trouble

from .conftest import Commands


def report_of(*names: str) -> dict[str, object]:
    """What `pip install --dry-run --report` writes, as far as we read it."""
    return {"install": [{"metadata": {"name": name}} for name in names]}


@pytest.fixture
def gpu_only(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """A machine for which pip only finds PyTorch's GPU build."""

    def run(command: list[object], extra: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        answer = commands(command, extra)
        if "--report" in command:
            report = Path(str(command[command.index("--report") + 1]))
            report.write_text(json.dumps(report_of("torch", "nvidia-cublas")), encoding="utf-8")
        return answer

    monkeypatch.setattr(installer, "run", run)
    return commands


def model_after(wish: Wish) -> str:
    installer.install(wish)
    installed = installer.read_stamp()
    assert installed is not None
    return installed.model


@pytest.mark.parametrize(
    ("names", "gpu"),
    [
        (["torch", "numpy", "sympy"], False),
        (["torch", "nvidia-cudnn-cu13"], True),
        (["torch", "Triton"], True),
        (["cuda-bindings"], True),
        ([], False),
    ],
)
def test_the_gpu_build_is_known_by_what_it_brings(names: list[str], gpu: bool) -> None:
    assert installer.is_gpu_build(report_of(*names)) is gpu


def test_the_cpu_build_needs_no_question(folder: Path, commands: Commands) -> None:
    assert model_after(Wish()) == "cpu"
    assert commands.installs()[-2:] == ["torch", "modelpin"]


def test_nobody_to_ask_means_no(gpu_only: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    assert model_after(Wish()) == "declined"
    assert "torch" not in gpu_only.installs()
    output = capsys.readouterr().out
    assert "about 3 GB to download" in output
    assert "install --big-torch" in output


@pytest.mark.parametrize(
    ("answer", "model"), [("y\n", "big"), ("n\n", "declined"), ("", "declined")]
)
def test_somebody_is_asked_after_the_size_was_told(
    gpu_only: Commands, monkeypatch: pytest.MonkeyPatch, answer: str, model: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    assert model_after(Wish(ask=True)) == model
    assert ("torch" in gpu_only.installs()) is (model == "big")


def test_big_torch_is_an_answer_that_lasts(gpu_only: Commands) -> None:
    assert model_after(installer.wish_of(["--big-torch"], None, explicit=True)) == "big"
    assert installer.wish_of([], installer.read_stamp(), explicit=False).big_torch


def test_a_machine_without_any_build_goes_on(folder: Path, commands: Commands) -> None:
    commands.failures["--dry-run"] = "ERROR: No matching distribution found for torch==2.13.0"
    assert model_after(Wish()) == "absent"
    assert "torch" not in commands.installs()


def test_no_model_lasts_until_install_is_asked_again(folder: Path, commands: Commands) -> None:
    assert model_after(installer.wish_of(["--no-model"], None, explicit=True)) == "unwanted"
    assert not any("--dry-run" in words for words in commands.asked)
    assert installer.wish_of([], installer.read_stamp(), explicit=False).model is False
    assert installer.wish_of([], installer.read_stamp(), explicit=True).model is True


def test_no_room_for_the_model_leaves_soulmem_usable(
    folder: Path,
    commands: Commands,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(installer.SPACE, "cpu", 10**9)
    assert model_after(Wish()) == "failed"
    assert installer.is_ready(installer.read_stamp(), installer.current_key(), set())
    assert "--no-model" in capsys.readouterr().err


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(Trouble, match="--big-trch"):
        installer.wish_of(["--big-trch"], Installed("key"), explicit=True)
