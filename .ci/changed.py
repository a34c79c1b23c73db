"""The tests nearest to what differs from the branch main: `start.py test changed`.

A test is the nearer the fewer imports lie between it and a changed file. As a program it runs files of tests
in their order, and begins no further file when its time is over.
"""

import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import grimp
import pytest

# Seconds after which no further file of tests begins.
TIME_LIMIT = 30.0
# Files of tests that are read at most: reading one takes some 70 ms.
MOST_PYTHON = 40
MOST_SCRIPTS = 30
# The tests that need no company, no model, no browser and no night.
CHOSEN = "not e2e and not llm and not alone and not nightly"
SCRIPT_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]""")

Importers = Mapping[str, set[str]]  # of a file, by path: the files that import it


@dataclass(frozen=True)
class NearestTests:
    """Files of tests, the nearest first, and how many there are that a change can reach."""

    python: tuple[str, ...]
    scripts: tuple[str, ...]
    reached: int

    def account(self, changed: int) -> str:
        """One line for the screen."""
        chosen = len(self.python) + len(self.scripts)
        return (
            f"{changed} changed files reach {self.reached} files of tests; "
            f"the nearest {chosen} run, those in the browser excepted"
        )


def changed_files(repository: Path) -> list[str]:
    """The files that differ from where the branch left main, also those that git does not know yet."""

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(
            ("git", "-c", "core.quotePath=false", *arguments),
            cwd=repository,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.stdout.splitlines() if done.returncode == 0 else []

    base = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main")
    differing = git("diff", "--name-only", "--relative", *(base or ["HEAD"]))
    new = git("ls-files", "--others", "--exclude-standard")
    return sorted(name for name in {*differing, *new} if (repository / name).is_file())


def nearest_tests(importers: Importers, changed: Sequence[str]) -> NearestTests:
    """The tests that the changed files can reach, ordered by distance, then by likeness of names."""
    steps = distances(importers, changed)
    stems = {PurePosixPath(name).stem for name in changed}
    rooms = {PurePosixPath(name).parent.parts[1:] for name in changed}

    def nearness(name: str) -> tuple[int, bool, bool, str]:
        path = PurePosixPath(name)
        is_named_after = path.name.removeprefix("test_").partition(".")[0] in stems
        room = path.parent.parts[2 if name.endswith(".mjs") else 1 :]
        return steps[name], not is_named_after, room not in rooms, name

    tests = sorted(filter(is_test, steps), key=nearness)
    python = [name for name in tests if name.endswith(".py")]
    scripts = [name for name in tests if name.endswith(".mjs")]
    return NearestTests(tuple(python[:MOST_PYTHON]), tuple(scripts[:MOST_SCRIPTS]), len(tests))


def is_test(name: str) -> bool:
    """Whether a file holds tests that need no browser."""
    if not name.startswith("tests/") or name.startswith("tests/e2e/"):
        return False
    own = PurePosixPath(name).name
    return own.endswith(".test.mjs") or (own.startswith("test_") and own.endswith(".py"))


def distances(importers: Importers, changed: Iterable[str]) -> dict[str, int]:
    """How many imports lie between a file and the nearest changed one, for each file that is reached."""
    steps = dict.fromkeys(changed, 0)
    border = list(steps)
    while border:
        reached = {
            importer: steps[name] + 1
            for name in border
            for importer in importers.get(name, ())
            if importer not in steps
        }
        steps |= reached
        border = list(reached)
    return steps


def import_graph(repository: Path, changed: Sequence[str]) -> Importers:
    """Which files import a file. A file that nothing imports is as if imported by what names it."""
    if str(repository) not in sys.path:
        sys.path.insert(0, str(repository))  # where grimp looks for packages
    files = code_files(repository)
    importers: dict[str, set[str]] = defaultdict(set)
    for importer, imported in python_imports(files):
        importers[imported].add(importer)
    for name, text in files.items():
        if not name.endswith(".py"):
            for imported in script_imports(name, text, files):
                importers[imported].add(name)
    for name in set(changed) - set(importers):
        word = PurePosixPath(name).name
        importers[name] |= {other for other, text in files.items() if word in text}
    return importers


def code_files(repository: Path) -> dict[str, str]:
    """The text of each file of code, by path."""
    folders = ("soulmem", "tests", ".ci", "extension_js", "plugin")
    paths = [
        path
        for folder in folders
        for path in (repository / folder).rglob("*")
        if path.suffix in (".py", ".js", ".mjs") and "node_modules" not in path.parts
    ]
    return {
        path.relative_to(repository).as_posix(): path.read_text("utf-8")
        for path in [*paths, repository / "start.py"]
    }


def python_imports(files: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pairs of files of Python code: the first imports the second. A test has the fixtures of its folders."""
    graph = grimp.build_graph("soulmem", "tests", include_external_packages=True, cache_dir=None)
    names = {module_of(name): name for name in files if name.endswith(".py")}
    for module in names.keys() & graph.modules:
        for importer in graph.find_modules_that_directly_import(module):
            if importer in names:
                yield names[importer], names[module]
    for name in filter(is_test, names.values()):
        for folder in PurePosixPath(name).parents:
            if str(folder / "conftest.py") in files:
                yield name, str(folder / "conftest.py")


def module_of(name: str) -> str:
    """The name under which a file is imported; those of `.ci` go without their folder."""
    module = name.removesuffix(".py").removesuffix("/__init__").removeprefix(".ci/")
    return module.replace("/", ".")


def script_imports(name: str, text: str, files: Collection[str]) -> Iterator[str]:
    """The files that a script imports."""
    folder = PurePosixPath(name).parent
    for relative in SCRIPT_IMPORT.findall(text):
        parts: list[str] = []
        for part in (folder / relative).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        imported = "/".join(parts)
        if imported in files:
            yield imported


class TimeLimit:
    """Begins no further file of tests when the time is over, and says how many are left.

    The time begins with the first test, not while files are read, so that the nearest file always runs.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: float | None = None
        self._begun: set[Path] = set()
        self._left: set[Path] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Pass over a test of a file that comes too late."""
        now = time.monotonic()
        if self._ends is None:
            self._ends = now + self._seconds
        elif item.path not in self._begun and now > self._ends:
            self._left.add(item.path)
            return True
        self._begun.add(item.path)
        return None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line on what was left."""
        if self._left:
            terminalreporter.write_line(
                f"the time is over: {len(self._left)} more files of tests are left to `start.py test`"
            )


def command(tests: Sequence[str]) -> tuple[str, ...]:
    """The command that runs these files of tests within the time."""
    return (sys.executable, str(Path(__file__).resolve()), *tests)


if __name__ == "__main__":
    options = ["-m", CHOSEN, "--durations=5", *sys.argv[1:]]
    sys.exit(pytest.main(options, plugins=[TimeLimit(TIME_LIMIT)]))
