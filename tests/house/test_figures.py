"""The code stays as plain as the limits of tests/house/figures.py say."""

from __future__ import annotations

import ast

import pytest

from tests.house.figures import LIMITS, complexity, count, is_nested


def test_each_figure_is_within_its_limit() -> None:
    """`python -m tests.house.figures --places` names what counts against it."""
    values = count().values()
    over = {name: values[name] for name in LIMITS if values[name] > LIMITS[name]}
    assert over == {}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(): return 1", 1),
        ("def f(a, b): return 1 if a and b else 2", 3),
        ("def f(a): return [x for x in a if x if x > 1]", 4),
        ("def f(a):\n    for x in a:\n        if x: pass", 3),
    ],
)
def test_complexity_counts_comprehensions(code: str, expected: int) -> None:
    assert complexity(ast.parse(code)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("[x for x in a]", False),
        ("[x for y in a for x in y]", True),
        ("[[x for x in y] for y in a]", True),
        ("f(x for x in a)", False),
    ],
)
def test_a_comprehension_in_a_comprehension_is_nested(code: str, expected: bool) -> None:
    nested = any(is_nested(node) for node in ast.walk(ast.parse(code)))
    assert nested is expected
