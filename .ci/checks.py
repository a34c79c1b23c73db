"""Run every check of the project and print one line for each: what `start.py test` does inside .venv.

With `slow` it runs the tests with a real language model; with other arguments pytest alone, with them.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

_PRINTING = threading.Lock()  # two lanes report
HERE = Path(__file__).resolve().parent.parent
PORTS = "SOULMEM_E2E_PORTS"
QUIET_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


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


def static_checks() -> Iterator[Check]:
    """Checks that measure no time, so they may run in parallel."""
    yield Check("mypy", (module("mypy"),))
    npm = shutil.which("npm") or "npm"
    compiler = HERE / "node_modules" / "typescript" / "bin" / "tsc"
    yield Check(
        "tsc",
        (
            (
                npm,
                "install",
                "--no-audit",
                "--no-fund",
                "--no-package-lock",
                "--ignore-scripts",
                "--loglevel=error",
            ),
            ("node", str(compiler), "-p", "tsconfig.json"),
        ),
    )
    scripts = sorted(
        str(path.relative_to(HERE)) for path in HERE.glob("tests/js/**/*.test.mjs")
    )
    yield Check("node --test", (("node", "--test", *scripts),))
    yield Check("ruff format", (module("ruff", "format", "--check", "."),))
    yield Check("ruff check", (module("ruff", "check", "."),))
    yield Check(
        "import-linter",
        ((str(Path(sys.executable).with_name("lint-imports")), "--no-cache"),),
    )


def parallel_tests() -> Check:
    """The tests in Python that do not mind company: two workers, a file stays with one of them."""
    workers = ("-n", "2", "--dist", "loadfile")
    chosen = "not e2e and not llm and not alone"
    return Check("pytest", (module("pytest", *workers, "-m", chosen),))


def end_to_end_tests(shared: Path) -> list[Check]:
    """The tests in the real SillyTavern, as runs that share the test files through the folder `shared`.

    Mostly they wait for a browser, so that one run may go beside other tests. Windows has no lock that
    two runs can hold.
    """
    command = module("pytest", "-m", "e2e", "tests/e2e")
    first, last = map(int, os.environ.get(PORTS, "19100-19199").split("-"))
    middle = (first + last) // 2
    ports = [f"{first}-{middle}", f"{middle + 1}-{last}"]
    if sys.platform == "win32":
        ports = [f"{first}-{last}"]
    return [
        Check(
            f"pytest e2e {number}",
            (command,),
            {PORTS: own, "SOULMEM_E2E_SHARE": str(shared)},
        )
        for number, own in enumerate(ports, 1)
    ]


def files_that_ran(shared: Path) -> Outcome:
    """Whether each file of end-to-end tests was taken by a run."""
    files = {path.name for path in HERE.glob("tests/e2e/test_*.py")}
    left_out = sorted(files - {path.name for path in shared.iterdir()})
    output = "".join(f"no run took tests/e2e/{name}\n" for name in left_out)
    return Outcome("e2e files", 1 if left_out else 0, 0.0, output)


def lone_tests() -> Check:
    """The tests that measure wall time: nothing else runs meanwhile.

    Only files that name the mark are collected: all of them would take a good part of a minute.
    """
    files = sorted(
        str(path.relative_to(HERE))
        for path in HERE.glob("tests/**/test_*.py")
        if "mark.alone" in path.read_text("utf-8")
    )
    return Check("pytest alone", (module("pytest", "-m", "alone and not llm", *files),))


def slow_tests() -> Check:
    """The tests with a real language model, half an hour: `start.py test slow`.

    They print a line for each seed, also where they pass.
    """
    return Check("pytest slow", (module("pytest", "-m", "llm", "-rP"),))


def perform(check: Check, capture: bool) -> Outcome:
    """Run the commands of a check until one fails."""
    began = time.monotonic()
    output, code = "", 0
    for command in check.commands:
        try:
            done = subprocess.run(
                command,
                cwd=HERE,
                env={**QUIET_THREADS, **os.environ, **check.env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if capture else None,
                stderr=subprocess.STDOUT if capture else None,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except FileNotFoundError:
            output += f"{command[0]} is not installed (node and npm come with Node.js 20 or newer)\n"
            code = 127
            break
        output += done.stdout or ""
        code = done.returncode
        if code:
            break
    return Outcome(check.name, code, time.monotonic() - began, output)


def run_all() -> list[Outcome]:
    """Every check but the slow ones, in two lanes; at the end, alone, the tests that measure wall time.

    One lane drives the browser. The other reads the code and runs the tests in Python, and then drives a
    second browser until no file of end-to-end tests is left.
    """
    with (
        TemporaryDirectory(prefix="soulmem-e2e-") as folder,
        ThreadPoolExecutor(max_workers=2) as lanes,
    ):
        shared = Path(folder)
        browser_runs = end_to_end_tests(shared)
        other = [*static_checks(), parallel_tests(), *browser_runs[1:]]
        lane = lanes.submit(perform_in_turn, other)
        outcomes = perform_in_turn(browser_runs[:1])
        outcomes = [*lane.result(), *outcomes, report(files_that_ran(shared))]
    return [*outcomes, report(perform(lone_tests(), capture=True))]


def perform_in_turn(checks: Sequence[Check]) -> list[Outcome]:
    """The outcomes of the checks, each reported when it is there."""
    return [report(perform(check, capture=True)) for check in checks]


def report(outcome: Outcome) -> Outcome:
    """Print how a check went: all that a failed one printed, the end of what a test run printed."""
    verdict = "failed" if outcome.code else "ok"
    lines = [f"{outcome.name}: {verdict}"]
    if outcome.code:
        lines.append(outcome.output)
    elif outcome.name.startswith("pytest"):
        lines += outcome.output.rstrip().splitlines()[-8:]
    with _PRINTING:
        print("\n".join(lines), flush=True)
    return outcome


def main(arguments: Sequence[str]) -> int:
    """Run the checks. The exit code is 0 if all of them pass."""
    if list(arguments) == ["slow"]:
        return perform(slow_tests(), capture=False).code
    if arguments:
        return perform(
            Check("pytest", (module("pytest", *arguments),)), capture=False
        ).code
    outcomes = run_all()
    print()
    for outcome in outcomes:
        print(
            f"{'FAILED' if outcome.code else 'ok':<8}{outcome.name:<16}{outcome.seconds:6.1f} s"
        )
    return 1 if any(outcome.code for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
