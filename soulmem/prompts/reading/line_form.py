"""Reads answers of lines like `F | 3 | Lena | owns | a boat`, which small models keep better than JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_BAR = re.compile("[|｜¦]")
_LEAD = re.compile(r"^[\s>*•\-`|｜]*(?:\d+[.)、]\s*)?")
_WORDS = re.compile(r"[\W_]+")


def read_lines(
    text: str, forms: Mapping[str, tuple[str, Sequence[str]]]
) -> dict[str, list[dict[str, Any]]]:
    """The lines of an answer as lists of objects, as in its JSON form.

    `forms` has for each head of a line (lower case) its list and the names of its fields in order. Lines with
    another head are ignored; fields that are missing or empty are left out, and surplus fields are joined to
    the last one.
    """
    out: dict[str, list[dict[str, Any]]] = {}
    for line in text.splitlines():
        parts = [
            part.strip()
            for part in _BAR.split(_LEAD.sub("", line.strip()).rstrip("|｜ `"))
        ]
        form = forms.get(_WORDS.sub("", parts[0]).lower())
        if form is None or len(parts) < 3:
            continue
        kind, names = form
        values = [*parts[1 : len(names)], " | ".join(parts[len(names) :])]
        out.setdefault(kind, []).append(
            {
                name: value
                for name, value in zip(names, values, strict=False)
                if value.strip()
            }
        )
    return out
