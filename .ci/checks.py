"""Run every check of the project and print one line for each: what `start.py test` does inside .venv.

With `slow` it runs the tests with a real language model; with other arguments pytest alone, with them.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_PRINTING = threading.Lock()  # two lanes report
HERE = Path(__file__).resolve().parent.parent
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


def end_to_end_tests() -> Iterator[Check]:
    """The tests in the real SillyTavern: mostly they wait for a browser."""
    if (HERE / "tests" / "e2e").is_dir():
        yield Check("pytest e2e", (module("pytest", "-m", "e2e", "tests/e2e"),))


def lone_tests() -> Check:
    """The tests that measure wall time: nothing else runs meanwhile."""
    return Check("pytest alone", (module("pytest", "-m", "alone and not llm"),))


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
                env={**QUIET_THREADS, **os.environ},
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
    """Every check but the slow ones. One lane reads the code and drives the browser, the other tests."""
    outcomes = []
    with ThreadPoolExecutor(max_workers=2) as lanes:
        other_lane = lanes.submit(
            perform_in_turn, [*static_checks(), *end_to_end_tests()]
        )
        outcomes.append(report(perform(parallel_tests(), capture=True)))
        outcomes += other_lane.result()
    outcomes.append(report(perform(lone_tests(), capture=True)))
    return outcomes


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
