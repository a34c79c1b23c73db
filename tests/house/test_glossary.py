"""The glossary and the names of modules and classes agree."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house.sources import parsed


def rows_of(page: str) -> list[list[str]]:
    """The cells of the table, without its head."""
    rows = [line.strip("|").split("|") for line in page.splitlines() if "|" in line]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.fixture(scope="module")
def names(repository: Path) -> set[str]:
    """Every module and class of the product."""
    names: set[str] = set()
    for path in (repository / "soulmem").rglob("*.py"):
        names.update((path.stem, path.parent.name))
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                names.add(node.name)
    return names


@pytest.fixture(scope="module")
def rows(repository: Path) -> list[list[str]]:
    """The table of docs/glossary.md."""
    return rows_of((repository / "docs" / "glossary.md").read_text(encoding="utf-8"))


def words_of(cell: str) -> list[str]:
    """The names in a cell."""
    return [word.strip() for word in cell.split(",") if word.strip()]


def parts_of(name: str) -> list[str]:
    """Lower-case words of a name in snake_case or CamelCase."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return spaced.lower().strip("_").split("_")


def holds(name: str, word: str) -> bool:
    """Whether the words of a name hold all those of `word` in a row."""
    parts, wanted = parts_of(name), word.split("_")
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts)))


def test_every_name_of_the_glossary_exists(rows: list[list[str]], names: set[str]) -> None:
    missing = [name for row in rows for name in words_of(row[2]) if name not in names]
    assert missing == []


def test_no_module_or_class_has_another_word_for_a_concept(
    rows: list[list[str]], names: set[str]
) -> None:
    other_words = [word for row in rows for word in words_of(row[3])]
    wrong = [(n, w) for n in sorted(names) for w in other_words if holds(n, w)]
    assert len(other_words) > 20
    assert wrong == []


def test_it_fits_a_screen(rows: list[list[str]]) -> None:
    assert len(rows) <= 40
    assert all(len(row) == 4 and row[1] for row in rows)
