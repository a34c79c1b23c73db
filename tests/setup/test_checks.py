"""What `start.py test` runs, and what runs of the end-to-end tests share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from contextlib import ExitStack
from pathlib import Path

import pytest

import checks
from tests.e2e.sharing import installed


@pytest.mark.skipif(sys.platform == "win32", reason="Windows: a single browser run")
def test_the_browser_runs_have_a_folder_in_common_and_ports_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(checks.PORTS, "100-199")
    runs = checks.end_to_end_tests(tmp_path, whole=False)
    assert [run.env[checks.PORTS] for run in runs] == ["100-149", "150-199"]
    assert {run.env["SOULMEM_E2E_SHARE"] for run in runs} == {str(tmp_path)}


def test_files_of_tests_lie_in_memory_where_it_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "IN_MEMORY", tmp_path)
    monkeypatch.setattr(checks, "ROOM", 1)
    assert checks.quick_folder() == tmp_path
    monkeypatch.setattr(checks, "ROOM", 1 << 62)
    assert checks.quick_folder() is None
    monkeypatch.setattr(checks, "IN_MEMORY", tmp_path / "absent")
    assert checks.quick_folder() is None


def test_an_end_to_end_file_that_no_run_took_is_a_failure(tmp_path: Path) -> None:
    assert checks.files_that_ran(tmp_path).code == 1, "no run came as far as the list"
    (tmp_path / "chosen.txt").write_text("test_a.py\ntest_b.py", encoding="utf-8")
    (tmp_path / "test_a.py").touch()
    outcome = checks.files_that_ran(tmp_path)
    assert (outcome.code, "test_b.py" in outcome.output) == (1, True)
    (tmp_path / "test_b.py").touch()
    assert checks.files_that_ran(tmp_path).code == 0


def test_a_run_leaves_the_list_of_its_files_and_those_it_took(tmp_path: Path) -> None:
    program = """
from pathlib import Path
from tests.e2e.sharing import announce, is_ours
announce([Path("test_a.py"), Path("test_b.py"), Path("test_a.py")])
print(is_ours(Path("test_a.py")))
"""
    env = {**os.environ, checks.SHARE: str(tmp_path)}
    command = (sys.executable, "-c", program)
    said = [
        subprocess.run(
            command, cwd=checks.HERE, env=env, capture_output=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == [b"True", b"False"]
    assert "test_b.py" in checks.files_that_ran(tmp_path).output
    assert "test_a.py" not in checks.files_that_ran(tmp_path).output


def test_only_the_long_run_has_nightly_tests_and_many_examples(tmp_path: Path) -> None:
    def runs(whole: bool) -> list[checks.Check]:
        python = (checks.house_tests, checks.lone_tests)
        shared = (checks.parts_of_tests, checks.end_to_end_tests)
        return [
            *(run(whole) for run in python),
            *checks.library_tests(whole),
            *(one for runs in shared for one in runs(tmp_path, whole)),
        ]

    def profiles(whole: bool) -> list[str | None]:
        return [run.env.get("SOULMEM_TEST_PROFILE") for run in runs(whole)]

    for everyday, whole in zip(runs(False), runs(True), strict=True):
        marks = everyday.commands[0].index("-m", 2) + 1
        assert everyday.commands[0][marks].endswith(" and not nightly")
        assert "nightly" not in " ".join(whole.commands[0])
    assert set(profiles(False)) == {None}
    assert set(profiles(True)) == {"long"}


def test_each_file_of_tests_is_read_by_one_run(tmp_path: Path) -> None:
    others = checks.library_tests(whole=False)
    named = [word for run in others for word in run.commands[0] if "tests/" in word]
    parts = checks.parts_of_tests(tmp_path, whole=False)
    for part in parts:
        chosen = Path(part.commands[0][-1].removeprefix("@"))
        named += chosen.read_text("utf-8").split()
    every = {
        path.relative_to(checks.HERE).as_posix() for path in checks.HERE.glob("tests/**/test_*.py")
    }
    by_folder = {name for name in every if name.startswith(("tests/e2e/", "tests/house/"))}
    assert len(by_folder) > 40
    assert sorted(named) == sorted(every - by_folder)


def saying(text: str, code: int) -> tuple[str, ...]:
    """A command that prints a text and exits with a code."""
    return (sys.executable, "-c", f"print({text!r}); raise SystemExit({code})")


@pytest.mark.parametrize("failing", ["first lane", "second lane", "missing program"])
def test_a_check_that_fails_in_any_lane_is_told_whole_and_fails_the_run(
    failing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    story = "\n".join(f"line {number} of the {failing}" for number in range(60))
    commands = {
        name: saying(story, 3 if name == failing else 0)
        for name in ("first lane", "second lane", "missing program")
    }
    if failing == "missing program":
        commands[failing] = ("no-such-program",)
    one, two, three = (
        checks.Check(name, (command, saying("more", 0))) for name, command in commands.items()
    )
    outcomes = checks.perform_in_lanes([[one, three], [two]])
    assert [outcome.name for outcome in outcomes] == [one.name, three.name, two.name]
    assert checks.summarise(outcomes) == 1
    said = capsys.readouterr().out
    assert said.count("FAILED") == 1
    assert f"{failing}: failed" in said
    wanted = "no-such-program is not" if failing == "missing program" else story
    assert wanted in said
    assert checks.summarise([one_more for one_more in outcomes if not one_more.code]) == 0


def test_lanes_that_share_a_queue_run_each_of_its_checks_once() -> None:
    names = [f"check {number}" for number in range(6)]
    queue = deque(checks.Check(name, (saying(name, 0),)) for name in names)
    outcomes = checks.perform_in_lanes([checks.from_queue(queue) for _ in range(3)])
    assert sorted(outcome.name for outcome in outcomes) == names
    assert not queue


def test_of_a_test_run_that_passed_the_slowest_tests_and_the_counts_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = "import time\ndef test_slow(): time.sleep(0.01)\ndef test_skipped():\n"
    skipping = "    import pytest; pytest.skip('no moon')\n"
    (tmp_path / "test_it.py").write_text(test + skipping, encoding="utf-8")
    options = ("-p", "no:cacheprovider", "--durations-min=0.001", str(tmp_path))
    run = checks.pytest_check("pytest", True, "not llm", f"--rootdir={tmp_path}", *options)
    (outcome,) = checks.perform_in_turn([run])
    said = capsys.readouterr().out
    assert outcome.code == 0, outcome.output
    assert "1 passed, 1 skipped" in said
    assert "call     test_it.py::test_slow" in said
    assert "%]" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows: a single browser run")
def test_runs_of_one_group_install_once_and_the_last_removes(tmp_path: Path) -> None:
    lock, steps = tmp_path / "lock", list[str]()

    def install() -> None:
        steps.append("install")

    def remove() -> None:
        steps.append("remove")

    with ExitStack() as first, ExitStack() as second:
        first.enter_context(installed(lock, install, remove, "ours"))
        second.enter_context(installed(lock, install, remove, "ours"))
        first.close()
        assert steps == ["install"]
        second.close()
        assert steps == ["install", "remove"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows: a single browser run")
def test_a_run_of_another_group_waits_and_installs_its_own(tmp_path: Path) -> None:
    lock, steps = tmp_path / "lock", list[str]()

    def nothing() -> None:
        pass

    def other_run() -> None:
        with installed(lock, lambda: steps.append("theirs"), nothing, "theirs"):
            pass

    other = threading.Thread(target=other_run)
    with installed(lock, lambda: steps.append("ours"), nothing, "ours"):
        other.start()
        other.join(0.2)
        assert other.is_alive()
        assert steps == ["ours"]
    other.join(30)
    assert steps == ["ours", "theirs"]
