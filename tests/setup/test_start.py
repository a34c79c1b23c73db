"""Does start.py run the right thing, at once when installed, and tell an unfit Python so?"""

from __future__ import annotations

import ast
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import installer
import starting
from installer import Wish

from .conftest import Commands

REPOSITORY = Path(__file__).resolve().parents[2]
RUNNER = str(REPOSITORY / ".ci" / "run_soulmem.py")


@pytest.mark.parametrize(
    "version", [(3, 9, 18, "final", 0), (3, 14, 0, "final", 0), (2, 7, 18, "final", 0)]
)
def test_an_unfit_python_is_named_with_the_remedy(
    version: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(
        SystemExit,
        match=rf"(?s)this is {version[0]}\.{version[1]}\. Install .*python3\.12 start\.py",
    ):
        runpy.run_path(str(REPOSITORY / "start.py"), run_name="__main__")


def test_an_old_python_can_read_as_far_as_the_message() -> None:
    """Python compiles the whole file first, so newer grammar anywhere would hide the message.

    What Python 2 reads as well: no annotations, no f-strings, an encoding that is named.
    """
    text = (REPOSITORY / "start.py").read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 6))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)
    assert [node for node in ast.walk(tree) if isinstance(node, newer)] == []
    assert [name for name in ast.walk(tree) if isinstance(name, ast.ImportFrom)] == []
    assert "coding: utf-8" in text.splitlines()[1]


def test_start_alone_says_what_is_missing_beside_it(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "start.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "start.py"], cwd=tmp_path, capture_output=True, check=False
    )
    words = done.stderr.decode()
    assert done.returncode == 1
    assert "Get the whole folder" in words
    assert "Traceback" not in words


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What start.py would have become."""
    commands: list[list[str]] = []

    def note(arguments: list[object]) -> None:
        commands.append([str(word) for word in arguments])
        raise SystemExit(0)

    def kept_alive(command: Sequence[str]) -> None:
        assert command[0] == str(
            REPOSITORY / ".venv" / installer.PYTHON.relative_to(installer.VENV)
        )
        note([*command[1:]])

    monkeypatch.setattr(starting, "hand_over", note)
    monkeypatch.setattr(starting, "Supervisor", kept_alive)
    return commands


@pytest.mark.parametrize(
    ("words", "becomes"),
    [
        ([], ["serve"]),
        (["--port", "9"], ["serve", "--port", "9"]),
        (["demo", "--json"], ["demo", "--json"]),
    ],
)
def test_once_installed_nothing_is_installed_again(
    folder: Path,
    commands: Commands,
    handed: list[list[str]],
    words: list[str],
    becomes: list[str],
) -> None:
    installer.install(Wish())
    commands.asked.clear()
    with pytest.raises(SystemExit):
        starting.main(words, "usage")
    assert handed == [[RUNNER, *becomes]]
    assert commands.asked == []


def test_the_first_start_installs(
    folder: Path, commands: Commands, handed: list[list[str]]
) -> None:
    with pytest.raises(SystemExit):
        starting.main([], "usage")
    assert commands.installs() == ["toolspin", "basepin", ".", "torch", "modelpin"]
    assert handed == [[RUNNER, "serve"]]


def test_install_runs_nothing(folder: Path, commands: Commands, handed: list[list[str]]) -> None:
    starting.main(["install"], "usage")
    assert handed == []


def test_help_installs_nothing(
    folder: Path,
    commands: Commands,
    handed: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    starting.main(["--help"], "the usage")
    assert capsys.readouterr().out == "the usage\n"
    assert (commands.asked, handed) == ([], [])


def test_test_brings_what_tests_need(
    folder: Path, commands: Commands, handed: list[list[str]]
) -> None:
    installer.install(Wish())
    with pytest.raises(SystemExit):
        starting.main(["test", "-k", "word"], "usage")
    assert commands.installs()[-4:] == ["testpin", ".", "torch", "modelpin"]
    assert handed[0][0].endswith("checks.py")
    assert handed[0][1:] == ["-k", "word"]


@pytest.mark.parametrize(("locale", "install"), [("C", "Install"), ("zh_CN.UTF-8", "安装扩展")])
def test_the_next_steps_begin_with_the_installation_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    locale: str,
    install: str,
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    for parent in ("extensions", "third-party", "elsewhere"):
        monkeypatch.setattr(starting, "HERE", Path("/data") / parent / "SoulMem")
        starting.next_steps()
        output = capsys.readouterr().out
        assert [f"  {n}. " in output for n in range(1, 6)] == [True] * 4 + [False]
        assert (install in output) == (parent == "elsewhere")


def test_start_becomes_a_command(folder: Path, commands: Commands) -> None:
    """The real script as a process: it hands its arguments, its folder and its exit code through."""
    output, process = started(folder, "doctor", "--port", "9")
    assert output == f"['doctor', '--port', '9'] {process.pid}"
    assert process.returncode == 7


def test_start_keeps_the_sidecar_alive(folder: Path, commands: Commands) -> None:
    output, process = started(folder, "--port", "9", "--code", "2")
    assert output.startswith("['serve', '--port', '9', '--code', '2'] ")
    assert process.returncode == 2


@pytest.mark.parametrize("words", [("doctor", "--code", "2"), ("--code", "2")])
def test_modules_of_other_folders_stand_in_for_none_of_ours(
    folder: Path, commands: Commands, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Neither those of PYTHONPATH nor those of the folder where start.py is called."""
    other = tmp_path / "other"
    other.mkdir()
    for name in ("json", "shutil", "numpy"):
        (other / f"{name}.py").write_text("raise SystemExit('foreign')", "utf-8")
    output, process = started(folder, *words, cwd=other, PYTHONPATH=str(other))
    assert "'--code', '2'] " in output
    assert process.returncode == 2


def started(
    folder: Path, *words: str, cwd: Path | None = None, **environ: str
) -> tuple[str, subprocess.Popen[str]]:
    """The last line of start.py with a stand-in for soulmem, and its ended process."""
    shutil.copy(REPOSITORY / "start.py", folder)
    for path in (REPOSITORY / ".ci").glob("*.py"):
        shutil.copy(path, folder / ".ci")
    (folder / "soulmem").mkdir()
    (folder / "soulmem" / "__init__.py").touch()
    program = "import os, sys; print(sys.argv[1:], os.getpid(), flush=True); import json, shutil; "
    program += "sys.exit(int(sys.argv[-1]) if '--code' in sys.argv else 7)"
    (folder / "soulmem" / "__main__.py").write_text(program, encoding="utf-8")
    installer.install(Wish())
    with subprocess.Popen(
        [sys.executable, str(folder / "start.py"), *words],
        cwd=cwd or folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    ) as process:
        output, _ = process.communicate(timeout=8)
    return output.splitlines()[-1], process
