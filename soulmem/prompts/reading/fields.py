"""Reads fields of an answer (texts, labels, numbers, objects); a value of another type counts as none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LONGEST = 400  # characters of a text: one or two sentences
LONGEST_NAME = 60  # characters of a name or a label
LONGEST_PHRASE = 120  # characters of the verb or the object of a fact

# Texts of users hold none: a prompt shows theirs with another bracket.
_LINE_NUMBERS = re.compile(r" ?\[ ?\d+(?: ?[,;] ?\d+)* ?\]")  # spaces are single here
_SENTENCES = re.compile(r".*[.!?。！？…][\"'”’」』)）]*", re.S)
_NUMBER = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
_MOST_LABELS = 8


def text(value: Any, limit: int = LONGEST) -> str | None:
    """A text on one line, without numbers of lines that it repeats; None for other types and blank ones.

    One that has the `limit` characters at which a schema cuts it ends with its last whole sentence.
    """
    if not isinstance(value, str):
        return None
    words = " ".join(value.split())
    if len(words) >= limit:
        sentences = _SENTENCES.match(words[:limit])
        words = sentences.group() if sentences else ""
    return _LINE_NUMBERS.sub("", words).strip() or None


def label(value: Any, limit: int = LONGEST_NAME) -> str | None:
    """A name or a label on one line; None where it was cut off."""
    words = " ".join(value.split()) if isinstance(value, str) else ""
    return words if 0 < len(words) < limit else None


def labels(value: Any, limit: int = LONGEST_NAME) -> tuple[str, ...]:
    """Names or labels of a list, without duplicates."""
    names = [label(part, limit) for part in value] if isinstance(value, list) else []
    return tuple(dict.fromkeys(name for name in names if name))[:_MOST_LABELS]


def share(value: Any, default: float) -> float:
    """A number in 0..1; `default` for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0.0 <= value <= 1.0 else default


def numbers(value: Any) -> tuple[int, ...]:
    """Line numbers of a list, ascending, without duplicates; also of texts like "[4]"."""
    line_numbers: set[int] = set()
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            line_numbers.update(map(int, _NUMBER.findall(part)))
        elif isinstance(part, int) and not isinstance(part, bool):
            line_numbers.add(part)
    return tuple(sorted(line_numbers))


def objects(value: Any) -> list[Mapping[str, Any]] | None:
    """The objects of a list, which may be empty; None for other types, and a list of nothing but others."""
    parts = value if isinstance(value, list) else [None]
    kept = [part for part in parts if isinstance(part, Mapping)]
    return kept if kept or not parts else None
