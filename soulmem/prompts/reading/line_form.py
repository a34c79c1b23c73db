"""What do lines like `F | 3 | Lena | owns | a boat` say? Small models keep that form better than JSON."""

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
    """The lines of an answer as the JSON form would give them.

    `forms` has for each head of a line (lower case) the list it belongs to and the names of its fields in
    order. Lines that begin with no such head are left out; missing fields are missing, and what is too much
    belongs to the last field.
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
