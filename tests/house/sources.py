"""The code as Python reads it, each file once: these tests run in a process of their own (`start.py test`)."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a Python file, which nobody may change."""
    return ast.parse(path.read_text(encoding="utf-8"))
