"""Run every check of the project and print one line for each: what `start.py test` does inside .venv.

Without a word it runs what everybody runs, in 13 to 22 minutes on two cores. With `all` it runs everything but the
tests with a real language model; those run with `slow`. With `changed` it runs the checks nearest to what differs
from the branch main, in a minute. With any other arguments it runs pytest alone, with them.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import changed

_PRINTING = threading.Lock()  # several lanes report
HERE = Path(__file__).resolve().parent.parent
PORTS = "SOULMEM_E2E_PORTS"
SHARE = "SOULMEM_E2E_SHARE"
PATIENCE = "SOULMEM_E2E_PATIENCE"
BESIDE = "SOULMEM_TEST_BESIDE"
# Runs of the tests in Python. A process of a fifth of them grows beyond 900 MB; each starts anew what a session
# shares, some 8 s.
PARTS = 6
OLDEST_SILLYTAVERN = "1.13.5"
HOUSE = "tests/house"
IN_MEMORY = Path("/dev/shm")  # where Linux keeps files in memory
ROOM = 4 << 30  # bytes that must be free there
APART = "not e2e and not llm and not alone"  # what runs beside other tests
QUIET_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # else each of a test's many threads keeps memory of its own
}
# Examples of the property tests: see tests/conftest.py.
MANY_EXAMPLES = {"SOULMEM_TEST_PROFILE": "long"}


@dataclass(frozen=True)
class Check:
    """A named series of commands. It passes if each of them exits with 0."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result of a check."""

    name: str
    code: int
    seconds: float
    output: str = ""


def module(name: str, *arguments: str) -> tuple[str, ...]:
    """A command that runs a module of .venv."""
    return (sys.executable, "-m", name, *arguments)


def pytest_check(name: str, whole: bool, marks: str, *arguments: str, **env: str) -> Check:
    """A run of pytest that names its slowest tests.

    `marks` says which tests; unless the run is `whole`, those that only the long run has are left out.
    """
    chosen = marks if whole else f"{marks} and not nightly"
    command = module("pytest", "-m", chosen, "--durations=15", *arguments)
    return Check(name, (command,), {**(MANY_EXAMPLES if whole else {}), **env})


def static_checks() -> Iterator[Check]:
    """Checks that measure no time, so they may run in parallel."""
    yield Check("ruff format", (module("ruff", "format", "--check", "."),))
    yield Check("ruff check", (module("ruff", "check", "."),))
    yield layers()
    yield types()
    yield script_types()
    yield script_tests(str(path.relative_to(HERE)) for path in HERE.glob("tests/js/**/*.test.mjs"))


def layers() -> Check:
    """The import rules."""
    lint = str(Path(sys.executable).with_name("lint-imports"))
    return Check("import-linter", ((lint, "--no-cache"),))


def types() -> Check:
    """The types of the Python code."""
    return Check("mypy", (module("mypy"),))


def script_types() -> Check:
    """The types of the scripts; the compiler is installed first."""
    install = (
        shutil.which("npm") or "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--no-package-lock",
        "--ignore-scripts",
        "--loglevel=error",
    )
    compiler = HERE / "node_modules" / "typescript" / "bin" / "tsc"
    return Check("tsc", (install, ("node", str(compiler), "-p", "tsconfig.json")))


def script_tests(files: Iterable[str]) -> Check:
    """The tests of the scripts in these files."""
    return Check("node --test", (("node", "--test", *sorted(files)),))


def in_background(check: Check) -> Check:
    """The same check, which leaves the processor to the tests beside it where the system can do that."""
    nice = shutil.which("nice")
    if nice is None:
        return check
    commands = tuple((nice, "-n", "5", *command) for command in check.commands)
    return replace(check, commands=commands)


def parts_of_tests(shared: Path, whole: bool) -> list[Check]:
    """The Python tests that can run beside others: runs of pytest, each with files of its own.

    So each file is collected once, and a process ends before it has grown large. Each run reads the names of its
    files from a file in the folder `shared`: on Windows they are too many for a command line.
    """
    elsewhere = {*chain(*library_files().values())}
    files = [
        name
        for name in files_that_name("")
        if not name.startswith("tests/e2e/") and name not in elsewhere
    ]
    checks = []
    for number in range(PARTS):
        chosen = shared / f"part{number + 1}.txt"
        chosen.write_text("\n".join(files[number::PARTS]), "utf-8")
        name, beside = f"pytest {number + 1}", {BESIDE: "1"}
        checks.append(pytest_check(name, whole, APART, f"@{chosen}", **beside))
    return checks


def house_tests(whole: bool) -> Check:
    """The tests that read the code, which keep it in memory."""
    return pytest_check("pytest house", whole, APART, HOUSE)


def library_tests(whole: bool) -> list[Check]:
    """The tests that import torch or litellm, which takes 10 s and 600 MB each: a run of pytest for either."""
    return [
        pytest_check(f"pytest {library}", whole, APART, *files)
        for library, files in library_files().items()
    ]


def library_files() -> dict[str, list[str]]:
    """By library, the test files that name its adapter; a file that names both is with torch."""
    torch = files_that_name("sentence_transformer")
    litellm = [name for name in files_that_name("litellm_endpoint") if name not in torch]
    return {"torch": torch, "litellm": litellm}


def files_that_name(word: str) -> list[str]:
    """The test files with this word in them, but those that read the code."""
    return sorted(
        path.relative_to(HERE).as_posix()
        for path in HERE.glob("tests/**/test_*.py")
        if word in path.read_text("utf-8") and not path.is_relative_to(HERE / HOUSE)
    )


def end_to_end_tests(shared: Path, whole: bool) -> list[Check]:
    """The tests in the real SillyTavern, as runs that share the test files through the folder `shared`.

    Mostly they wait for a browser, so that one run may go beside other tests. Windows has no lock that
    two runs can hold.
    """
    return [
        pytest_check(
            f"pytest e2e {number}",
            whole,
            "e2e",
            "tests/e2e",
            **{PORTS: own, SHARE: str(shared), **patience()},
        )
        for number, own in enumerate(browser_ports(), 1)
    ]


def patience() -> dict[str, str]:
    """Waits are twice as long as in a run of its own: beside other tests a page gets half a processor."""
    return {PATIENCE: os.environ.get(PATIENCE, "2")}


def browser_ports() -> list[str]:
    """The range of ports of each run that drives a browser."""
    first, last = map(int, os.environ.get(PORTS, "19100-19199").split("-"))
    middle = (first + last) // 2
    if sys.platform == "win32":
        return [f"{first}-{last}"]
    return [f"{first}-{middle}", f"{middle + 1}-{last}"]


def oldest_sillytavern() -> Check:
    """Some of the tests in the oldest SillyTavern that is supported, by the first of the ports."""
    return pytest_check(
        f"pytest e2e {OLDEST_SILLYTAVERN}",
        True,
        "e2e and oldest",
        "tests/e2e",
        f"--st-version={OLDEST_SILLYTAVERN}",
        **{PORTS: browser_ports()[0]},
    )


def background_checks(whole: bool) -> list[Check]:
    """What nobody waits for as long as other tests run."""
    return [*static_checks(), house_tests(whole), *library_tests(whole)]


def files_that_ran(shared: Path) -> Outcome:
    """Whether each file of end-to-end tests with a chosen test was taken by a run.

    The runs leave a file for each that they take, and the list of those with chosen tests.
    """
    listed = shared / "chosen.txt"
    chosen = set(listed.read_text("utf-8").split()) if listed.exists() else set()
    left_out = sorted(chosen - {path.name for path in shared.iterdir()})
    output = "".join(f"no run took tests/e2e/{name}\n" for name in left_out)
    if not chosen:
        output = "no run found a test in tests/e2e\n"
    return Outcome("e2e files", 1 if output else 0, 0.0, output)


def lone_tests(whole: bool) -> Check:
    """The tests that measure wall time: nothing else runs meanwhile.

    Only files that name the mark are collected: all of them would take a good part of a minute.
    """
    return pytest_check("pytest alone", whole, "alone and not llm", *files_that_name("mark.alone"))


def slow_tests() -> Check:
    """The tests with a real language model, half an hour: `start.py test slow`.

    They print a line for each seed, also where they pass.
    """
    return Check("pytest slow", (module("pytest", "-m", "llm", "-rP"),))


def nearest_checks() -> list[list[Check]]:
    """The checks nearest to what differs from the branch main, in two lanes."""
    files = changed.changed_files(HERE)
    tests = changed.nearest_tests(changed.import_graph(HERE, files), files)
    python = [name for name in files if name.endswith(".py")]
    scripts = [name for name in files if name.endswith((".js", ".mjs"))]
    quick: list[Check] = []
    if python:
        quick.append(Check("ruff format", (module("ruff", "format", "--check", *python),)))
        quick.append(Check("ruff check", (module("ruff", "check", *python),)))
        quick.append(types())
    if any(name.startswith("soulmem/") for name in python):
        quick.append(layers())
    if scripts:
        quick.append(script_types())
    if tests.scripts:
        quick.append(script_tests(tests.scripts))
    slow = [Check("pytest", (changed.command(tests.python),))] if tests.python else []
    print(tests.account(len(files)), flush=True)
    return [quick, slow]


def environment(check: Check) -> dict[str, str]:
    """The variables of a check. Python keeps what it compiles, though the system may ask it not to: the tests
    start some hundred processes, and each would compile everything anew."""
    env = {**QUIET_THREADS, **os.environ, **check.env}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


def perform(check: Check, capture: bool) -> Outcome:
    """Run the commands of a check until one fails."""
    began = time.monotonic()
    output, code = "", 0
    for command in check.commands:
        try:
            done = subprocess.run(
                command,
                cwd=HERE,
                env=environment(check),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if capture else None,
                stderr=subprocess.STDOUT if capture else None,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except FileNotFoundError:
            output += (
                f"{command[0]} is not installed (node and npm come with Node.js 20 or newer)\n"
            )
            code = 127
            break
        output += done.stdout or ""
        code = done.returncode
        if code:
            break
    return Outcome(check.name, code, time.monotonic() - began, output)


def from_queue(queue: deque[Check]) -> Iterator[Check]:
    """The checks of a queue until it is empty. Several lanes may share a queue: each check goes to one of them."""
    while True:
        try:
            yield queue.popleft()
        except IndexError:
            return


def perform_in_turn(checks: Iterable[Check]) -> list[Outcome]:
    """The outcomes of the checks, each reported when it is there."""
    return [report(perform(check, capture=True)) for check in checks]


def perform_in_lanes(lanes: Sequence[Iterable[Check]]) -> list[Outcome]:
    """The outcomes of the checks of all lanes, which run beside each other."""
    with ThreadPoolExecutor(max_workers=len(lanes)) as threads:
        done = threads.map(perform_in_turn, lanes)
        return [outcome for lane in done for outcome in lane]


def run_all(whole: bool) -> list[Outcome]:
    """Every check but those with a real language model: those of everyday, or the `whole` of them.

    One lane reads the code and runs the tests that import large libraries, in the background: what it has left
    when the other tests in Python are over fills the time in which browsers wait. The other three lanes share a
    queue of these tests. One of the three drives a browser before that, and one after it if files of end-to-end
    tests are left. At the end, alone, run the tests that measure wall time.
    """
    with TemporaryDirectory(prefix="soulmem-tests-", dir=quick_folder()) as folder:
        os.environ["TMPDIR"] = folder  # of the checks
        shared = Path(folder) / "shared"
        shared.mkdir()
        browser, *more = end_to_end_tests(shared, whole)
        oldest = [oldest_sillytavern()] if whole else []
        parts = deque(parts_of_tests(shared, whole))
        lanes: list[Iterable[Check]] = [
            [in_background(check) for check in background_checks(whole)],
            from_queue(parts),
            chain(from_queue(parts), more),
            chain([browser], oldest, from_queue(parts)),
        ]
        outcomes = [*perform_in_lanes(lanes), report(files_that_ran(shared))]
        return [*outcomes, *perform_in_turn([lone_tests(whole)])]


def quick_folder() -> Path | None:
    """The folder in memory for the files of tests; None, the system's usual one, where memory has no room.

    Each change of a store waits until the disk has it.
    """
    try:
        free = shutil.disk_usage(IN_MEMORY).free
    except OSError:
        return None
    return IN_MEMORY if free >= ROOM else None


def report(outcome: Outcome) -> Outcome:
    """Print how a check went: all that a failed one printed, the end of what a test run printed."""
    verdict = "failed" if outcome.code else "ok"
    lines = [f"{outcome.name}: {verdict}"]
    if outcome.code:
        lines.append(outcome.output)
    elif outcome.name.startswith("pytest"):
        lines.append(behind_progress(outcome.output))
    with _PRINTING:
        print("\n".join(lines), flush=True)
    return outcome


def behind_progress(output: str) -> str:
    """What pytest printed when its tests had run: reasons of skipped tests, the slowest, the counts."""
    *_, summary = re.split(r"^.*\[ *\d+%\]$", output.rstrip(), flags=re.MULTILINE)
    return summary.strip()


def summarise(outcomes: Sequence[Outcome]) -> int:
    """Print a line for each check; the exit code is 0 if all of them pass."""
    print()
    for outcome in outcomes:
        verdict = "FAILED" if outcome.code else "ok"
        print(f"{verdict:<8}{outcome.name:<20}{outcome.seconds:6.1f} s")
    return 1 if any(outcome.code for outcome in outcomes) else 0


def main(arguments: Sequence[str]) -> int:
    """Run the checks. The exit code is 0 if all of them pass."""
    words = list(arguments)
    if words in ([], ["all"]):
        return summarise(run_all(whole=bool(words)))
    if words == ["changed"]:
        return summarise(perform_in_lanes(nearest_checks()))
    check = Check("pytest", (module("pytest", *words),))
    return perform(slow_tests() if words == ["slow"] else check, capture=False).code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
