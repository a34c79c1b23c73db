"""Does start.py run the right thing, at once when installed, and tell an unfit Python so?"""

from __future__ import annotations

import ast
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import installer
import start
from installer import Wish

from .conftest import Commands

REPOSITORY = Path(start.__file__).resolve().parent


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
        runpy.run_path(start.__file__, run_name="__main__")


def test_an_old_python_can_read_as_far_as_the_message() -> None:
    """Python compiles the whole file first, so newer grammar anywhere would hide the message."""
    ast.parse(Path(start.__file__).read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What start.py would have become."""
    commands: list[list[str]] = []

    def note(arguments: list[object]) -> None:
        commands.append([str(word) for word in arguments])
        raise SystemExit(0)

    def kept_alive(command: list[str]) -> None:
        assert command[0] == str(
            REPOSITORY / ".venv" / installer.PYTHON.relative_to(installer.VENV)
        )
        note([*command[1:]])

    monkeypatch.setattr(start, "hand_over", note)
    monkeypatch.setattr(start, "Supervisor", kept_alive)
    return commands


@pytest.mark.parametrize(
    ("words", "becomes"),
    [
        ([], ["-m", "soulmem", "serve"]),
        (["--port", "9"], ["-m", "soulmem", "serve", "--port", "9"]),
        (["demo", "--json"], ["-m", "soulmem", "demo", "--json"]),
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
        start.main(words)
    assert handed == [becomes]
    assert commands.asked == []


def test_the_first_start_installs(
    folder: Path, commands: Commands, handed: list[list[str]]
) -> None:
    with pytest.raises(SystemExit):
        start.main([])
    assert commands.installs() == ["flit-core", ".", ".[model]"]
    assert handed == [["-m", "soulmem", "serve"]]


def test_install_runs_nothing(
    folder: Path, commands: Commands, handed: list[list[str]]
) -> None:
    start.main(["install"])
    assert handed == []


def test_help_installs_nothing(
    folder: Path,
    commands: Commands,
    handed: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    start.main(["--help"])
    assert "--big-torch" in capsys.readouterr().out
    assert (commands.asked, handed) == ([], [])


def test_test_brings_what_tests_need(
    folder: Path, commands: Commands, handed: list[list[str]]
) -> None:
    installer.install(Wish())
    with pytest.raises(SystemExit):
        start.main(["test", "-k", "word"])
    assert commands.installs()[-3:] == ["setuptools", ".[test]", ".[model]"]
    assert handed[0][0].endswith("checks.py")
    assert handed[0][1:] == ["-k", "word"]


@pytest.mark.parametrize(
    ("locale", "install"), [("C", "Install"), ("zh_CN.UTF-8", "安装扩展")]
)
def test_the_next_steps_begin_with_the_installation_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    locale: str,
    install: str,
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    for parent in ("extensions", "third-party", "elsewhere"):
        monkeypatch.setattr(start, "HERE", Path("/data") / parent / "SoulMem")
        start.next_steps()
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


def started(folder: Path, *words: str) -> tuple[str, subprocess.Popen[str]]:
    """The last line of start.py with a stand-in for soulmem, and its ended process."""
    shutil.copy(start.__file__, folder)
    for name in ("installer.py", "supervisor.py"):
        shutil.copy(REPOSITORY / ".ci" / name, folder / ".ci")
    (folder / "soulmem").mkdir()
    program = "import os, sys; print(sys.argv[1:], os.getpid(), flush=True); "
    program += "sys.exit(int(sys.argv[-1]) if '--code' in sys.argv else 7)"
    (folder / "soulmem" / "__main__.py").write_text(program, encoding="utf-8")
    installer.install(Wish())
    with subprocess.Popen(
        [sys.executable, "start.py", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        output, _ = process.communicate(timeout=8)
    return output.splitlines()[-1], process
