"""Is a sidecar that crashes started again, by start.py, and left alone when it cannot live?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from supervisor import GAVE_UP, Patience, Supervisor

CI = Path(__file__).parents[2] / ".ci"
SOON = Patience(first=0.01, longest=0.03, tries=3, healthy=60.0)


@pytest.fixture
def life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """A command that notes each of its lives in the file `lives`, then does what it is told to."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def make(program: str) -> list[str]:
        lives = tmp_path / "lives"
        head = f"""
            import os, signal, sys, time
            with open({str(lives)!r}, "a") as file:
                file.write("x")
            life = os.path.getsize({str(lives)!r})
        """
        return [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(program)]

    return make


def lives(folder: Path) -> int:
    file = folder / "lives"
    return file.stat().st_size if file.exists() else 0


@pytest.mark.parametrize("code", [0, 1, 2, 130])
def test_what_ends_by_itself_is_not_started_again(
    tmp_path: Path, life: Callable[[str], list[str]], code: int
) -> None:
    assert Supervisor(life(f"sys.exit({code})"), SOON).run() == code
    assert lives(tmp_path) == 1


@pytest.mark.parametrize(
    "crash", ["os.kill(os.getpid(), signal.SIGKILL)", "os.abort()", "sys.exit(70)"]
)
@pytest.mark.skipif(os.name == "nt", reason="the stand-in needs signals")
def test_after_a_crash_it_lives_again(
    tmp_path: Path,
    life: Callable[[str], list[str]],
    crash: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert Supervisor(life(f"if life < 3: {crash}"), SOON).run() == 0
    assert lives(tmp_path) == 3
    assert capfd.readouterr().out.count("It restarts in") == 2


def test_one_that_cannot_live_is_left_alone_in_words(
    tmp_path: Path, life: Callable[[str], list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    waits: list[float] = []
    assert Supervisor(life("sys.exit(70)"), SOON, sleep=waits.append).run() == GAVE_UP
    assert lives(tmp_path) == 3
    assert waits == [0.01, 0.02]
    assert "crashed 3 times in a row (code 70)" in capfd.readouterr().out


def test_a_crash_after_a_long_life_is_the_first_again(
    tmp_path: Path, life: Callable[[str], list[str]]
) -> None:
    """Also one with code 1: a sidecar that ran for long has nothing to refuse any more."""
    hours = iter(range(0, 3600 * 100, 3600))
    waits: list[float] = []
    command = life("sys.exit(1 if life < 8 else 0)")
    code = Supervisor(command, SOON, sleep=waits.append, clock=lambda: float(next(hours))).run()
    assert (code, lives(tmp_path)) == (0, 8)
    assert waits == [0.01] * 7


def test_waits_grow_up_to_a_limit() -> None:
    patience = Patience()
    assert [patience.wait(n) for n in range(1, 9)] == [1, 2, 4, 8, 16, 30, 30, 30]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to pass on")
@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_who_ends_start_ends_the_sidecar(
    tmp_path: Path, life: Callable[[str], list[str]], asked: signal.Signals
) -> None:
    """In one console Ctrl-C goes to both; SIGTERM to start.py alone is passed on."""
    command = life(
        """
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
        print("ready", flush=True)
        time.sleep(30)
        """
    )
    program = f"from supervisor import *\nimport sys\nsys.exit(Supervisor({command!r}).run())"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(CI)},
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if asked is signal.SIGINT:
            os.killpg(process.pid, asked)
        else:
            process.send_signal(asked)
        assert process.wait(8) == 0
    assert lives(tmp_path) == 1
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to pass on")
def test_asked_to_end_between_two_lives_it_does(
    tmp_path: Path, life: Callable[[str], list[str]]
) -> None:
    def sleep(_seconds: float) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    assert Supervisor(life("sys.exit(70)"), SOON, sleep=sleep).run() == 0
    assert lives(tmp_path) == 1
