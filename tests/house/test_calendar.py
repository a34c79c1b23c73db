"""Conversions of dates that fail near the ends of the calendar, or on Windows, stand in one module alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import parsed

HELPERS = "soulmem/domain/calendar.py"
RISKY = {"astimezone", "fromtimestamp", "utcfromtimestamp"}
ENDS = {"min", "max"}


def conversions(tree: ast.Module) -> Iterator[int]:
    """Lines that convert between zones or seconds and dates, or name an end of the calendar."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        of = node.value.id if isinstance(node.value, ast.Name) else ""
        if node.attr in RISKY or (of in ("date", "datetime") and node.attr in ENDS):
            yield node.lineno


def test_dates_are_converted_in_one_module(repository: Path) -> None:
    found = {
        path.relative_to(repository).as_posix(): lines
        for path in sorted((repository / "soulmem").rglob("*.py"))
        if (lines := list(conversions(parsed(path))))
    }
    assert list(found) == [HELPERS], found


@pytest.mark.parametrize(
    "source",
    [
        "moment.astimezone()",
        "datetime.fromtimestamp(3.0, timezone.utc)",
        "end = datetime.max",
    ],
)
def test_the_check_finds_conversions(source: str) -> None:
    assert list(conversions(ast.parse(source))) == [1]
