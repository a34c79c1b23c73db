"""Run every check of the project and print one line for each: what `start.py test` does inside .venv.

With arguments it runs pytest alone, with them.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
QUIET_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Check:
    """A named series of commands; it holds when each of them exits with 0."""

    name: str
    commands: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Outcome:
    """How a check went."""

    name: str
    code: int
    seconds: float
    output: str = ""


def module(name: str, *arguments: str) -> tuple[str, ...]:
    """A command that runs a module of .venv."""
    return (sys.executable, "-m", name, *arguments)


def static_checks() -> Iterator[Check]:
    """Everything that reads the code without timing it; these may run side by side."""
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


def tests() -> Iterator[Check]:
    """The tests in Python, alone on the machine because some of them measure time."""
    yield Check("pytest", (module("pytest", "-m", "not e2e"),))
    if (HERE / "tests" / "e2e").is_dir():
        yield Check("pytest e2e", (module("pytest", "-m", "e2e", "tests/e2e"),))


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
    """Every check, with its output on the screen if it fails."""
    outcomes = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        for future in as_completed(
            [pool.submit(perform, check, True) for check in static_checks()]
        ):
            outcome = future.result()
            outcomes.append(outcome)
            print(f"{outcome.name}: {'failed' if outcome.code else 'ok'}", flush=True)
            if outcome.code:
                print(outcome.output, flush=True)
    for check in tests():
        print(f"\n{check.name}", flush=True)
        outcomes.append(perform(check, capture=False))
    return outcomes


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 when every check held."""
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
