"""Plants small faults in copies of the code and reports how many the everyday tests find.

    python -m tests.house.mutants [--seed 0] [--engine 30] [--server 15] [--extension 15] [--jobs CORES]

Run by hand and before a release; it takes half an hour for each seed. The floor is .8. A fault is one changed
operator, condition, number or return value of one line that tests can reach. The nearest tests of
soulmem/engine/ROOM are tests/engine/ROOM, of soulmem/server tests/server, of extension_js/src/ROOM
tests/js/ROOM, with tests of another room that import the changed file; tests named after it run first,
and the first failure ends the run. Where these find nothing, tests run that import the file by way of others,
those with the fewest imports between first. A file of tests that fails without the fault as well has found
nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from tests.house.figures import REPOSITORY

sys.path.append(str(REPOSITORY / ".ci"))
import changed as imports

FLOOR = 0.8
FURTHER = 40  # files of tests that run at most where the nearest find nothing
# Seconds for the tests of one fault. A fault that makes them hang is found when they end without it.
TIME_LIMIT = 600.0
# Seconds for one test: a fault that makes it hang is found then; node cannot end a loop that never waits.
TEST_LIMIT = 60.0
TESTS_FAILED = (1, 2)  # exit codes: a test failed, or the tests could not be read

OPPOSITE = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",  # a limit moved by one is often the same program
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
JS_SWAPS = (
    (" === ", " !== "),
    (" !== ", " === "),
    (" && ", " || "),
    (" || ", " && "),
    (" >= ", " < "),
    (" <= ", " > "),
    (" > ", " <= "),
    (" < ", " >= "),
    (" + 1", " - 1"),
    (" - 1", " + 1"),
    ("return true", "return false"),
    ("return false", "return true"),
    ("if (!", "if ("),
)


@dataclass(frozen=True)
class Mutant:
    """One fault: `line` (from 1) of a file reads otherwise."""

    path: Path  # below the repository
    line: int
    before: str
    after: str

    def describe(self) -> str:
        """Where it is and what it changes."""
        return f"{self.path}:{self.line}  {self.before.strip()}  ->  {self.after.strip()}"


def changed(line: str, start: int, end: int, text: str) -> str:
    """The line with bytes start..end replaced."""
    encoded = line.encode()
    return (encoded[:start] + text.encode() + encoded[end:]).decode()


def python_mutants(path: Path) -> Iterator[Mutant]:
    """Every fault that can be planted in a Python file."""
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        for line, after in _changes(node, lines):
            yield Mutant(path, line, lines[line - 1], after)


def _changes(node: ast.AST, lines: list[str]) -> Iterator[tuple[int, str]]:
    """Changed lines for one node: its number, its new text."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        operator = OPPOSITE[type(node.ops[0])]
        yield from _between(node.left, node.comparators[0], f" {operator} ", lines)
    elif isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        yield from _between(node.values[0], node.values[1], word, lines)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        if node.lineno == node.operand.lineno:
            span = (node.col_offset, node.operand.col_offset)
            yield node.lineno, changed(lines[node.lineno - 1], *span, "")
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield from _instead(node, str(value), lines)
    elif isinstance(node, ast.Return) and isinstance(
        node.value, ast.Name | ast.Attribute | ast.Call
    ):
        yield from _instead(node, "return None", lines)


def _between(
    left: ast.expr, right: ast.expr, text: str, lines: list[str]
) -> Iterator[tuple[int, str]]:
    """The operator between two operands of one line replaced."""
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return
    line = lines[right.lineno - 1]
    operator = line.encode()[left.end_col_offset : right.col_offset]
    if b"(" not in operator and b")" not in operator:
        span = (left.end_col_offset, right.col_offset)
        yield right.lineno, changed(line, *span, text)


def _instead(node: ast.expr | ast.stmt, text: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    """A node of one line replaced."""
    if node.lineno == node.end_lineno and node.end_col_offset is not None:
        span = (node.col_offset, node.end_col_offset)
        yield node.lineno, changed(lines[node.lineno - 1], *span, text)


def script_mutants(path: Path) -> Iterator[Mutant]:
    """Every fault that can be planted in a file of the extension."""
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith(("//", "*", "/*", "import", "export *", "'")):
            continue
        for old, new in JS_SWAPS:
            if old in line:
                yield Mutant(path, number, line, line.replace(old, new, 1))


def is_worth_it(mutant: Mutant) -> bool:
    """Whether tests could see it: not in logs, types, decorators, comments or numbers of a setting's default."""
    line = mutant.before.strip()
    if mutant.before == mutant.after:
        return False
    if line.startswith(("log.", "#", "assert ", "class ", "@")):
        return False
    if "Annotated[" in line or "strict=" in line:
        return False
    return not re.match(r"^[A-Z_]+( |:)|^_[A-Z_]+( |:)|^[a-z_]+: .* = ", line)


def drawn(kind: str, count: int, seed: int) -> list[Mutant]:
    """So many faults, at most one a file, drawn with the seed."""
    folder, ending = {
        "engine": ("soulmem/engine", ".py"),
        "server": ("soulmem/server", ".py"),
        "extension": ("extension_js/src", ".js"),
    }[kind]
    make = python_mutants if ending == ".py" else script_mutants
    every: list[Mutant] = []
    for file in sorted((REPOSITORY / folder).rglob(f"*{ending}")):
        every += filter(is_worth_it, make(file.relative_to(REPOSITORY)))
    picked: list[Mutant] = []
    files: set[Path] = set()
    for mutant in random.Random(f"{kind} {seed}").sample(every, len(every)):
        if mutant.path not in files:
            files.add(mutant.path)
            picked.append(mutant)
    return picked[:count]


def nearest_tests(path: Path) -> list[str]:
    """Files of tests for a changed file: those named after it, those that import it, the others of its folder."""
    parts = path.parts
    if path.suffix == ".js":
        root = REPOSITORY / "tests" / "js"
        folder, pattern = root / Path(*parts[2:-1]), "*.test.mjs"
        imported = re.escape("/".join(parts[1:]))
    else:
        root = REPOSITORY / "tests"
        folder, pattern = root / Path(*parts[1:-1]), "test_*.py"
        module = re.escape(".".join(path.with_suffix("").parts))
        imported = rf"(from|import) {module}\b"
    while not any(folder.rglob(pattern)):
        folder = folder.parent
    importing = {
        test
        for test in root.rglob(pattern)
        if re.search(imported, test.read_text(encoding="utf-8"))
    }

    def distance(test: Path) -> tuple[bool, bool, str]:
        return path.stem not in test.stem, test not in importing, test.name

    tests = sorted(importing.union(folder.rglob(pattern)), key=distance)
    return [str(test.relative_to(REPOSITORY)) for test in tests]


def further_tests(importers: imports.Importers, path: Path) -> list[str]:
    """Files of tests that import a changed file by way of others, beside `nearest_tests`; at most `FURTHER`, those
    with the fewest imports between first.
    """
    steps = imports.distances(importers, [path.as_posix()])
    near = set(nearest_tests(path))
    ending = ".mjs" if path.suffix == ".js" else ".py"
    tests = [
        name
        for name in steps
        if imports.is_test(name) and name.endswith(ending) and name not in near
    ]
    return sorted(tests, key=lambda name: (steps[name], name))[:FURTHER]


class Workplace:
    """A copy of the repository in which faults are planted."""

    def __init__(self, copy: Path, importers: imports.Importers) -> None:
        ignore = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "node_modules")
        shutil.copytree(REPOSITORY, copy, ignore=ignore, symlinks=True)
        self.copy = copy
        self._importers = importers
        # Files of tests to: they pass without a fault.
        self._sound: dict[tuple[str, ...], bool] = {}

    def finds(self, mutant: Mutant) -> bool:
        """Whether tests fail with the fault and pass without it."""
        near = nearest_tests(mutant.path)
        further = further_tests(self._importers, mutant.path)
        return any(tests and self._fail_for(mutant, tuple(tests)) for tests in (near, further))

    def _fail_for(self, mutant: Mutant, tests: tuple[str, ...]) -> bool:
        target = self.copy / mutant.path
        original = target.read_text(encoding="utf-8")
        lines = original.split("\n")
        lines[mutant.line - 1] = mutant.after
        target.write_text("\n".join(lines), encoding="utf-8")
        try:
            failed = self._failing(tests)
        finally:
            target.write_text(original, encoding="utf-8")
        if failed and failed not in self._sound:
            self._sound[failed] = not self._failing(failed)
        return bool(failed) and self._sound[failed]

    def _failing(self, tests: tuple[str, ...]) -> tuple[str, ...]:
        """The files of the first failure; all of them when the output does not say."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.copy),
            "OMP_NUM_THREADS": "1",
        }
        try:
            run = subprocess.run(
                command_for(tests),
                cwd=self.copy,
                env=environment,
                capture_output=True,
                timeout=TIME_LIMIT,
                check=False,
                encoding="utf-8",
            )
        except subprocess.TimeoutExpired:
            return tests
        if run.returncode not in TESTS_FAILED:
            return ()
        named = re.findall(r"^(?:FAILED|ERROR) ([^:\s]+\.py)", run.stdout, re.MULTILINE)
        return tuple(dict.fromkeys(named)) or tests


def command_for(tests: tuple[str, ...]) -> list[str]:
    """The command that runs files of tests until the first failure."""
    if tests[0].endswith(".mjs"):
        return ["node", "--test", f"--test-timeout={TEST_LIMIT * 1000:.0f}", *tests]
    limit = f"timeout={TEST_LIMIT:.0f}"
    chosen = ("-m", "not llm and not nightly")
    return [sys.executable, "-m", "pytest", "-q", "-x", "-o", limit, *chosen, *tests]


def main() -> None:
    """Plant the faults and print one line each, then the share that was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", type=int, default=30)
    parser.add_argument("--server", type=int, default=15)
    parser.add_argument("--extension", type=int, default=15)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    faults = [
        mutant
        for kind in ("engine", "server", "extension")
        for mutant in drawn(kind, getattr(options, kind), options.seed)
    ]
    importers = imports.import_graph(REPOSITORY, [])
    free: Queue[Workplace] = Queue()

    def is_found(mutant: Mutant) -> bool:
        workplace = free.get()
        try:
            return workplace.finds(mutant)
        finally:
            free.put(workplace)

    dead = 0
    with (
        tempfile.TemporaryDirectory() as place,
        ThreadPoolExecutor(options.jobs) as threads,
    ):
        for number in range(options.jobs):
            free.put(Workplace(Path(place) / f"copy{number}", importers))
        for mutant, is_dead in zip(faults, threads.map(is_found, faults), strict=True):
            dead += is_dead
            verdict = "found" if is_dead else "SURVIVES"
            print(f"{verdict:9} {mutant.describe()}", flush=True)
    print(f"{dead} of {len(faults)} found: {dead / len(faults):.2f} (floor {FLOOR})")
    sys.exit(dead < FLOOR * len(faults))


if __name__ == "__main__":
    main()
