"""Plants small faults in copies of the code and reports how many the nearest tests find.

    python -m tests.house.mutants [--seed 0] [--engine 30] [--server 15] [--extension 15]

Run by hand and before a release; it takes about half an hour. The floor is .8. A fault is one changed
operator, condition, number or return value of one line that tests can reach. The nearest tests of
soulmem/engine/ROOM are tests/engine/ROOM, of soulmem/server tests/server, of extension_js/src/ROOM
tests/js/ROOM; tests named after the changed file run first, and the first failure ends the run.
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
from dataclasses import dataclass
from pathlib import Path

from tests.house.figures import REPOSITORY

FLOOR = 0.8
TIME_LIMIT = 180.0  # seconds for the tests of one fault; a hang counts as found

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
        return (
            f"{self.path}:{self.line}  {self.before.strip()}  ->  {self.after.strip()}"
        )


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


def _instead(
    node: ast.expr | ast.stmt, text: str, lines: list[str]
) -> Iterator[tuple[int, str]]:
    """A node of one line replaced."""
    if node.lineno == node.end_lineno and node.end_col_offset is not None:
        span = (node.col_offset, node.end_col_offset)
        yield node.lineno, changed(lines[node.lineno - 1], *span, text)


def script_mutants(path: Path) -> Iterator[Mutant]:
    """Every fault that can be planted in a file of the extension."""
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith(("//", "*", "/*", "import", "export *")):
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
    """Files of tests for a changed file, those named after it first."""
    parts = path.parts
    if path.suffix == ".js":
        folder = REPOSITORY / "tests" / "js" / Path(*parts[2:-1])
        pattern = "*.test.mjs"
    else:
        folder = REPOSITORY / "tests" / Path(*parts[1:-1])
        pattern = "test_*.py"
    while not any(folder.glob(pattern)) and folder != REPOSITORY / "tests":
        folder = folder.parent
    stem = path.stem
    tests = sorted(folder.rglob(pattern), key=lambda t: (stem not in t.stem, t.name))
    return [str(test.relative_to(REPOSITORY)) for test in tests]


def is_found(mutant: Mutant, copy: Path) -> bool:
    """Whether the nearest tests fail with the fault in the copy of the repository."""
    target = copy / mutant.path
    original = target.read_text(encoding="utf-8")
    lines = original.split("\n")
    lines[mutant.line - 1] = mutant.after
    target.write_text("\n".join(lines), encoding="utf-8")
    tests = nearest_tests(mutant.path)
    if mutant.path.suffix == ".js":
        command = ["node", "--test", *tests]
    else:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not llm", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_text(original, encoding="utf-8")
    return done.returncode != 0


def main() -> None:
    """Plant the faults and print one line each, then the share that was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", type=int, default=30)
    parser.add_argument("--server", type=int, default=15)
    parser.add_argument("--extension", type=int, default=15)
    options = parser.parse_args()
    dead = total = 0
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "copy"
        ignore = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
        shutil.copytree(REPOSITORY, copy, ignore=ignore, symlinks=True)
        for kind in ("engine", "server", "extension"):
            for mutant in drawn(kind, getattr(options, kind), options.seed):
                is_dead = is_found(mutant, copy)
                dead, total = dead + is_dead, total + 1
                verdict = "found" if is_dead else "SURVIVES"
                print(f"{verdict:9} {mutant.describe()}", flush=True)
    print(f"{dead} of {total} found: {dead / total:.2f} (floor {FLOOR})")
    sys.exit(dead < FLOOR * total)


if __name__ == "__main__":
    main()
