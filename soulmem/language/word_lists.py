"""Word lists of the data folder, read once: the only place that knows their format.

Each file is TOML: tables of lists. A list is a text of words between white space, a text of single signs,
or an array of phrases or patterns.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent / "data"


@cache
def tables(file: str) -> dict[str, Any]:
    """All tables of the file of that name, without its ending."""
    return tomllib.loads((FOLDER / f"{file}.toml").read_text(encoding="utf-8"))


@cache
def words(file: str, table: str, key: str) -> tuple[str, ...]:
    """A list in the order of its file."""
    entries = tables(file)[table][key]
    return tuple(entries.split() if isinstance(entries, str) else entries)


def word_set(file: str, table: str, *keys: str) -> frozenset[str]:
    """The lists of these keys as one set."""
    return frozenset[str]().union(*(words(file, table, key) for key in keys))


def signs(file: str, table: str, key: str) -> str:
    """A list of single signs, without the line breaks of the file."""
    return "".join(words(file, table, key))


def pairs(file: str, table: str, key: str) -> dict[str, str]:
    """A list of `word:other` as a mapping."""
    return dict(pair.split(":") for pair in words(file, table, key))


def alternatives(entries: Iterable[str]) -> str:
    """A pattern that matches any of these patterns, an earlier one first."""
    return "|".join(entries)
