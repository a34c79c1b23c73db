"""Which tests `start.py test changed` runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import changed
from checks import HERE

FIRST = {
    "soulmem/engine/recall/climb.py": "tests/engine/recall/test_climb.py",
    ".ci/changed.py": "tests/setup/test_changed.py",
    "extension_js/src/pages/bin_page.js": "tests/js/pages/bin_page.test.mjs",
}
ALSO = {
    "tests/setup/conftest.py": "test_start.py",  # by its fixtures
    "docs/glossary.md": "test_glossary.py",  # which names it
    "start.py": "test_start.py",  # which runs it
}


@pytest.fixture(scope="module")
def importers() -> changed.Importers:
    """Which files of this repository import a file."""
    return changed.import_graph(HERE, [*FIRST, *ALSO])


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(("git", *who, *arguments), cwd=folder, check=True)


def write(folder: Path, **texts: str) -> None:
    """Files by the name of a module each."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_the_test_named_after_a_changed_file_comes_first(
    importers: changed.Importers,
) -> None:
    for name, test in FIRST.items():
        tests = changed.nearest_tests(importers, [name])
        assert (*tests.python, *tests.scripts)[0] == test
        assert tests.reached >= 1


def test_fixtures_and_names_in_a_text_lead_to_tests_as_imports_do(
    importers: changed.Importers,
) -> None:
    for name, test in ALSO.items():
        tests = changed.nearest_tests(importers, [name])
        assert test in {Path(each).name for each in tests.python}


def test_the_nearer_test_comes_first() -> None:
    importers = {"a": {"b", "test_a"}, "b": {"test_b", "test_a"}, "c": {"test_c"}}
    assert changed.distances(importers, ["a"]) == {
        "a": 0,
        "b": 1,
        "test_a": 1,
        "test_b": 2,
    }


def test_what_differs_from_main_is_committed_unsaved_or_new(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path, same="1", edited="1", committed="1", gone="1")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "All")
    git(tmp_path, "switch", "-qc", "work")
    write(tmp_path, committed="2")
    git(tmp_path, "commit", "-qam", "More")
    write(tmp_path, edited="2", new="2")
    (tmp_path / "gone.py").unlink()
    assert changed.changed_files(tmp_path) == ["committed.py", "edited.py", "new.py"]


@pytest.mark.parametrize(("seconds", "passed"), [(-1.0, 1), (600.0, 2)], ids=["over", "enough"])
def test_no_further_file_begins_when_the_time_is_over_and_the_run_says_so(
    tmp_path: Path, seconds: float, passed: int
) -> None:
    write(tmp_path, test_one="def test_it(): pass", test_two="def test_it(): pass")
    program = f"""
import sys
sys.path.insert(0, {str(Path(changed.__file__).parent)!r})
import changed, pytest
pytest.main(["-p", "no:cacheprovider"], plugins=[changed.TimeLimit({seconds})])
"""
    done = subprocess.run(
        (sys.executable, "-c", program),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    said = "1 more files of tests are left"
    assert f"{passed} passed" in done.stdout
    assert (said in done.stdout) == (passed == 1)
