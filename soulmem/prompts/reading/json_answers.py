"""Reads an answer as a JSON object, wherever it is in the text; of one that was cut off, its whole parts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from soulmem.domain.foreign_json import first_value
from soulmem.domain.llm import Unreadable
from soulmem.domain.phrases import phrase
from soulmem.prompts.reading.unwrapping import answer_of

_TRIES = 24  # positions tried as the begin of JSON
_LONGEST = 60_000  # characters of an answer; the rest is ignored
_MARKS = re.compile(r'\\.|["{}\[\]]', re.S)
_CLOSING = {"{": "}", "[": "]"}
_SENTENCES = re.compile(r".*[.!?。！？…]", re.S)


def read_object(text: str, wanted: Collection[str]) -> Mapping[str, Any]:
    """The JSON object in the answer with most of the `wanted` keys. Raises Unreadable."""
    best: Mapping[str, Any] = {}
    for value in _objects(answer_of(text[:_LONGEST])):
        if _count_wanted(value, wanted) > _count_wanted(best, wanted):
            best = value
    if not best:
        raise Unreadable(
            phrase(
                "answer_no_object",
                "no JSON object with any of {wanted}",
                wanted=", ".join(wanted),
            )
        )
    return best


def _count_wanted(members: Mapping[str, Any], wanted: Collection[str]) -> int:
    return sum(key in members for key in wanted)


def _objects(body: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in the text, from left to right, those inside others too."""
    position = -1
    for _ in range(_TRIES):
        position = body.find("{", position + 1)
        if position < 0:
            return
        value = _decoded(body, position)
        if value is None:
            value = _cut_off(body[position:])
        if value is not None:
            yield value


def _decoded(text: str, position: int = 0) -> Mapping[str, Any] | None:
    """The object that begins at the "{" at `position`; None where it is no JSON, or nested too deeply."""
    try:
        value = first_value(text, position)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _cut_off(text: str) -> Mapping[str, Any] | None:
    """The whole parts of an object that was cut off: its texts end with a sentence. None without any."""
    values = map(_decoded, _closed(text))
    return next((value for value in values if value is not None), None)


def _closed(text: str) -> Iterator[str]:
    """The object with a text under way closed after its last sentence, and without what is under way."""
    closing, begin, is_text = list[str](), 0, False
    end, depth = 0, 0  # of the last closed part: its end, and how many are open there
    for match in _MARKS.finditer(text):
        mark = match.group()
        if mark == '"':
            is_text, begin = not is_text, match.end()
        elif is_text or mark.startswith("\\"):
            continue
        elif mark in _CLOSING:
            closing.append(_CLOSING[mark])
        elif not closing or closing.pop() != mark:
            return
        else:
            end, depth = match.end(), len(closing)
    if is_text and (sentences := _SENTENCES.match(text, begin)):
        yield text[: sentences.end()] + '"' + "".join(reversed(closing))
    elif text.rstrip().endswith('"'):
        yield text + "".join(reversed(closing))
    yield text[:end] + "".join(reversed(closing[:depth]))
