"""A test that asserts in a loop only must loop over something that cannot be empty, or it may check nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.conftest import REPOSITORY
from tests.house.sources import parsed

# Calls that give something as long as they are given something.
KEEP = {"enumerate", "list", "reversed", "set", "sorted", "tuple", "zip", "dict"}
KEEP |= {"items", "keys", "values", "permutations", "product", "batched", "count"}
# Calls of a test that check by themselves.
CHECKS = ("assert", "check", "refused", "raises", "fail", "expect", "same", "warns")


def is_full(node: ast.expr, known: dict[str, ast.expr]) -> bool:
    """Whether it is clear from the code that there is at least one.

    Constants and enums of other files count as full: they are written by hand.
    """
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return any(not isinstance(e, ast.Starred) or is_full(e.value, known) for e in node.elts)
    if isinstance(node, ast.Name) and node.id in known:
        rest = {name: value for name, value in known.items() if name != node.id}
        return is_full(known[node.id], rest)
    if isinstance(node, ast.Name | ast.Attribute):
        return (getattr(node, "attr", "") or getattr(node, "id", ""))[:1].isupper()
    if isinstance(node, ast.Subscript):
        return is_full(node.value, known) and not isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.BinOp):
        return is_full(node.left, known) or is_full(node.right, known)
    if isinstance(node, ast.Call):
        return is_full_call(node, known)
    return bool(getattr(node, "keys", ()) or getattr(node, "value", ()))


def is_full_call(node: ast.Call, known: dict[str, ast.expr]) -> bool:
    """Whether a call gives at least one."""
    name, parts = call_name(node), list(node.args)
    if name == "range":
        return all(isinstance(a, ast.Constant | ast.UnaryOp) for a in parts)
    if isinstance(node.func, ast.Attribute) and not parts:
        parts = [node.func.value]
    full = [is_full(part, known) for part in parts]
    return name in KEEP and (any(full) if is_strict(node) else bool(full) and all(full))


def is_strict(node: ast.Call) -> bool:
    """Whether it is a zip of things of one length."""
    return "strict=True" in ast.unparse(node)


def call_name(node: ast.Call) -> str:
    """The last word of what is called."""
    function = node.func
    return str(getattr(function, "attr", "") or getattr(function, "id", ""))


def checks_of(node: ast.AST, loops: tuple[ast.expr, ...] = ()) -> Iterator[tuple[ast.expr, ...]]:
    """For each check below a node what its loops go over."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        is_call = isinstance(child, ast.Call) and any(
            word in call_name(child).lower() for word in CHECKS
        )
        if isinstance(child, ast.Assert) or is_call:
            yield loops
        if isinstance(child, ast.For | ast.AsyncFor):
            yield from checks_of(child, (*loops, child.iter))
        else:
            yield from checks_of(child, loops)


def named_values(nodes: list[ast.stmt]) -> dict[str, ast.expr]:
    """What names are set to, once, in these statements."""
    values: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            values[node.target.id] = node.value or ast.Tuple([], ast.Load())
    return values


def empty_loops(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Name and line of each test whose every check is in a loop that may be empty."""
    known = named_values(tree.body)
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("test_"):
            continue
        if any("given" in ast.unparse(each) for each in node.decorator_list):
            continue  # of many drawn examples some are full
        inside = known | named_values(node.body)
        found = list(checks_of(node))
        if found and not any(all(is_full(each, inside) for each in loops) for loops in found):
            yield node.name, node.lineno


def test_no_test_asserts_only_in_loops_that_may_be_empty(tracked: list[Path]) -> None:
    files = [p for p in tracked if p.name.startswith("test_") and p.suffix == ".py"]
    assert len(files) > 100
    found = [
        f"{path}:{line} {name}"
        for path in files
        for name, line in empty_loops(parsed(REPOSITORY / path))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("def test_a():\n for x in f():\n  assert x", True),
        ("def test_a():\n for x in f():\n  assert x\n assert y", False),
        ("def test_a():\n for x in (1, 2):\n  assert x", False),
        ("XS = [1]\ndef test_a():\n for x in XS:\n  assert x", False),
        ("XS = []\ndef test_a():\n for x in sorted(XS):\n  assert x", True),
        ("from a import XS\ndef test_a():\n for x in XS:\n  assert x", False),
        ("def test_a():\n for x in (1,):\n  for y in f(x):\n   assert y", True),
        ("def test_a():\n xs = f()\n assert xs\n for x in xs:\n  assert x", False),
    ],
)
def test_a_loop_that_may_be_empty_is_found(code: str, is_found: bool) -> None:
    assert bool(list(empty_loops(ast.parse(code)))) is is_found
