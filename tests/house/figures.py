"""Figures of the code that a machine can count: density, names, folders.

    python -m tests.house.figures           one line a figure, with its limit
    python -m tests.house.figures --places  where what is over its limit stands

The limits are those of test_figures.py; the measured anchors behind them are in docs/architecture.md.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.house.sources import parsed

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PRODUCT = ("soulmem", "extension_js", "plugin")
CODE = {".py", ".js", ".mjs"}
COMPLEX = 12  # cyclomatic complexity, conditions in comprehensions counted
# Words that name nothing: as a variable each of them can be anything.
VAGUE = frozenset(
    [
        "one",
        "found",
        "told",
        "known",
        "held",
        "said",
        "at",
        "gone",
        "left",
        "given",
        "both",
        "here",
        "now",
        "then",
    ]
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BRANCHES = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While),
    *(ast.ExceptHandler, ast.IfExp, ast.Assert, ast.match_case),
)

LIMITS = {
    "files in a folder, most": 40,
    "files right in soulmem/engine": 8,
    "lines of a file, most": 550,
    "characters of a code line, mean": 37.0,
    "nested comprehensions per 1,000 code lines": 1.0,
    "share of functions over complexity 12": 0.012,
    "share of vague names": 0.01,
    "parameters of a constructor, most": 9,
}


@dataclass
class Figures:
    """Counts over files; `places` names each function, line and name that counts against a limit."""

    folders: Counter[Path] = field(default_factory=Counter)
    longest_file: int = 0
    code_lines: int = 0
    characters: int = 0
    functions: int = 0
    complex_functions: int = 0
    nested: int = 0
    names: int = 0
    vague_names: int = 0
    parameters: int = 0
    places: list[str] = field(default_factory=list)

    def values(self) -> dict[str, float]:
        """The figures, by the names of LIMITS."""
        thousands = max(self.code_lines, 1) / 1000
        engine = REPOSITORY / "soulmem" / "engine"
        return {
            "files in a folder, most": max(self.folders.values(), default=0),
            "files right in soulmem/engine": self.folders[engine],
            "lines of a file, most": self.longest_file,
            "characters of a code line, mean": self.characters / max(self.code_lines, 1),
            "nested comprehensions per 1,000 code lines": self.nested / thousands,
            "share of functions over complexity 12": self.complex_functions
            / max(self.functions, 1),
            "share of vague names": self.vague_names / max(self.names, 1),
            "parameters of a constructor, most": self.parameters,
        }


def complexity(function: ast.AST) -> int:
    """Cyclomatic complexity: 1, and 1 for each branch, boolean operand and part of a comprehension."""
    total = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
    return total


def is_nested(node: ast.AST) -> bool:
    """Whether a comprehension loops twice: two `for`, or another comprehension inside."""
    if not isinstance(node, COMPREHENSIONS):
        return False
    if len(node.generators) > 1:
        return True
    return any(isinstance(inner, COMPREHENSIONS) for inner in ast.walk(node) if inner is not node)


def docstring_lines(tree: ast.AST) -> set[int]:
    """Numbers of the lines that hold bare strings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        is_string = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_string and isinstance(node.value.value, str):  # type: ignore[attr-defined]
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
    return lines


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Names of the parameters but self and cls."""
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [a.arg for a in every if a.arg not in ("self", "cls")]


def read_python(figures: Figures, path: Path, text: str) -> None:
    """Add one Python file."""
    tree = parsed(path)
    skipped = docstring_lines(tree)
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#") and number not in skipped:
            figures.code_lines += 1
            figures.characters += len(stripped)
    where = path.relative_to(REPOSITORY)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            read_function(figures, f"{where}:{node.lineno} {node.name}", node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            count_name(figures, f"{where}:{node.lineno}", node.id)
        elif is_nested(node):
            figures.nested += 1
            figures.places.append(f"{where}:{node.lineno} nested comprehension")  # type: ignore[attr-defined]


def read_function(
    figures: Figures, place: str, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> None:
    """Add one function."""
    figures.functions += 1
    score = complexity(function)
    if score > COMPLEX:
        figures.complex_functions += 1
        figures.places.append(f"{place} complexity {score}")
    parameters = parameters_of(function)
    if function.name == "__init__":
        figures.parameters = max(figures.parameters, len(parameters))
    for name in parameters:
        count_name(figures, place, name)


def count_name(figures: Figures, place: str, name: str) -> None:
    """Add one variable or parameter."""
    figures.names += 1
    if name in VAGUE:
        figures.vague_names += 1
        figures.places.append(f"{place} vague name {name}")


def product_files() -> Iterator[Path]:
    """Code files of the product; data and installed packages are left out."""
    for top in PRODUCT:
        for path in sorted((REPOSITORY / top).rglob("*")):
            if path.suffix in CODE and "node_modules" not in path.parts:
                yield path


def count() -> Figures:
    """The figures of the product."""
    figures = Figures()
    for path in product_files():
        text = path.read_text(encoding="utf-8")
        figures.folders[path.parent] += 1
        figures.longest_file = max(figures.longest_file, text.count("\n"))
        if path.suffix == ".py":
            read_python(figures, path, text)
    return figures


def main() -> None:
    """Print the figures."""
    figures = count()
    for name, value in figures.values().items():
        over = "  OVER" if value > LIMITS[name] else ""
        print(f"{name:44} {value:8.3f}  (at most {LIMITS[name]}){over}")
    print(f"{figures.code_lines} code lines, {figures.functions} functions")
    if "--places" in sys.argv:
        print("\n".join(figures.places))


if __name__ == "__main__":
    main()
