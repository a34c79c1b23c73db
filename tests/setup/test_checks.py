"""What `start.py test` runs, and what runs of the end-to-end tests share."""

from __future__ import annotations

import sys
import threading
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
    runs = checks.end_to_end_tests(tmp_path)
    assert [run.env[checks.PORTS] for run in runs] == ["100-149", "150-199"]
    assert {run.env["SOULMEM_E2E_SHARE"] for run in runs} == {str(tmp_path)}


def test_an_end_to_end_file_that_no_run_took_is_a_failure(tmp_path: Path) -> None:
    files = [path.name for path in checks.HERE.glob("tests/e2e/test_*.py")]
    for name in files[1:]:
        (tmp_path / name).touch()
    outcome = checks.files_that_ran(tmp_path)
    assert outcome.code == 1
    assert files[0] in outcome.output
    (tmp_path / files[0]).touch()
    assert checks.files_that_ran(tmp_path).code == 0


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
