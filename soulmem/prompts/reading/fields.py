"""Reads fields of an answer (texts, labels, numbers, objects) of whatever type the model gave."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from soulmem.prompts.reading.lenient_json import Partial

LONGEST = 400  # characters of a text: one or two sentences
LONGEST_NAME = 60  # characters of a name or a label

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_SPAN = re.compile(r"(\d+)\s*(?:-|–|—|~|to|至|到)\s*(\d+)|(\d+)")
_ENDS = re.compile(r".*[.!?。！？…][\"'”’」』)）]*", re.S)
_CLAUSE_ENDS = re.compile(r"(.*[^，；])[，；]", re.S)
_COMMAS = re.compile(r"(?<=\w)[,;]\s")
_LISTS = re.compile("[;；、,，/]")
_MARKER = re.compile(
    r"^(?:\s*(?:[-*•]\s+|[\[(（【]\s*\d+\s*[\])）】]\s*|\d+[.)、]\s+))+"
)
_LEVELS = {
    **dict.fromkeys(("none", "无", "没有"), 0.0),
    **dict.fromkeys(("very low", "很低"), 0.1),
    **dict.fromkeys(("low", "weak", "低", "弱"), 0.25),
    **dict.fromkeys(("medium", "moderate", "mid", "normal", "中", "中等", "一般"), 0.5),
    **dict.fromkeys(("high", "strong", "important", "高", "强", "重要"), 0.75),
    **dict.fromkeys(
        ("very high", "critical", "always", "很高", "非常高", "总是"), 0.95
    ),
}
_YES = {"true", "yes", "1", "y", "是", "对", "over", "ended"}
_NOTHING = {
    "none",
    "null",
    "n/a",
    "na",
    "unknown",
    "-",
    "–",
    "—",
    "?",
    "...",
    "…",
    "无",
    "没有",
    "未知",
    "不明",
}
_MOST_LINES = 64  # most lines of a span like "1-100000"


def text(value: Any, limit: int = LONGEST) -> str | None:
    """A text on one line without a list marker; None for other types and for words like "none".

    A text that was cut off, or has the `limit` characters at which a schema cuts it, ends with its last whole
    sentence, or without one, with its last whole clause.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return None
    words = _MARKER.sub("", " ".join(value.split())).strip()
    if isinstance(value, Partial) or len(value) >= limit:
        words = _whole_sentences(words[:limit])
    return None if not words or words.lower() in _NOTHING else words


def _whole_sentences(words: str) -> str:
    if ended := _ENDS.match(words):
        return ended.group().strip()
    if clause := _CLAUSE_ENDS.match(words):
        return clause.group(1) + "。"
    ends = [comma.start() for comma in _COMMAS.finditer(words)]
    clauses = words[: ends[-1]] if ends else ""
    return (
        clauses + "." if "," in clauses or ";" in clauses else ""
    )  # one may be behind "In the evening"


def label(value: Any, limit: int = LONGEST_NAME) -> str | None:
    """A name or a label: like a text, but None where it was cut off."""
    words = None if isinstance(value, Partial) else text(value)
    if words is None or len(words) >= limit:
        return None
    return words.strip("\"'“”‘’「」『』《》`*_ .。,，") or None


def labels(value: Any, limit: int = LONGEST_NAME, most: int = 8) -> tuple[str, ...]:
    """Names or labels without duplicates, from a list or from one text with separators."""
    if isinstance(value, str):
        value = _LISTS.split(value)
    parts = value if isinstance(value, list) else []
    names = (
        label(part.get("name") if isinstance(part, Mapping) else part, limit)
        for part in parts
    )
    return tuple(dict.fromkeys(part for part in names if part))[:most]


def share(value: Any, default: float) -> float:
    """A number in 0..1: also from 7/10, 70 %, 7, "high"; `default` for anything else."""
    if isinstance(value, str):
        return _share_of_words(value.strip().lower(), default)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
    ):
        return default
    return _scaled(float(value) if abs(value) < 1e9 else 1e9)


def _share_of_words(words: str, default: float) -> float:
    """`share` of a text in lower case."""
    if words in _LEVELS:
        return _LEVELS[words]
    numbers = [float(n.replace(",", ".")) for n in _NUMBER.findall(words)]
    if not numbers:
        return default
    number = numbers[0]
    if "%" in words or "％" in words:
        number /= 100
    elif "/" in words and len(numbers) > 1 and numbers[1] > 0:
        number /= numbers[1]
    return _scaled(number)


def _scaled(number: float) -> float:
    if number > 1.0:
        number = number / 10 if number <= 10 else number / 100
    return min(1.0, max(0.0, number))


def truth(value: Any) -> bool:
    """Whether the value is true or a word for yes."""
    return value is True or (isinstance(value, str) and value.strip().lower() in _YES)


def numbers(value: Any) -> tuple[int, ...]:
    """Line numbers, ascending, without duplicates: from [1, "2"], "1, 3-5", "[4]", 7; else empty."""
    line_numbers: set[int] = set()
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, bool):
            continue
        if isinstance(part, int | float) and math.isfinite(part) and abs(part) < 1e9:
            line_numbers.add(int(part))
        elif isinstance(part, str):
            for start, end, alone in _SPAN.findall(part[:200]):
                if alone:
                    line_numbers.add(int(alone[:9]))
                elif int(end[:9]) - int(start[:9]) < _MOST_LINES:
                    line_numbers.update(range(int(start[:9]), int(end[:9]) + 1))
    return tuple(sorted(line_numbers))


def objects(value: Any, name: str = "") -> list[Mapping[str, Any]] | None:
    """The objects of a list, of an object's members, or the single object; None for anything else (an empty
    list gives an empty list). An object under a word, not under a number, gets this as its `name`.
    """
    if isinstance(value, Mapping):
        inner: list[tuple[str, Mapping[str, Any]]] = []
        for key, member in value.items():
            inner += [(key, part) for part in _parts(member)]
        if not inner or len({key for key, _ in inner}) < len(value):
            return [value]
        return [
            part if str(key).isdigit() else {name: key, **part} for key, part in inner
        ]
    if not isinstance(value, list):
        return None
    parts = _parts(value)
    return parts if parts or not value else None


def _parts(value: Any) -> list[Mapping[str, Any]]:
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, Mapping)]
