"""Reads an answer as JSON, wherever it is in the text, or as lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from soulmem.domain.llm import Unreadable
from soulmem.prompts.reading.lenient_json import read_json
from soulmem.prompts.reading.line_form import read_lines
from soulmem.prompts.reading.unwrapping import answer_of

_OPENING = re.compile(r"[{\[]")
_TRIES = 24  # positions tried as the begin of JSON
_LONGEST = 60_000  # characters of an answer; the rest is ignored


def read_object(text: str, wanted: Collection[str]) -> Mapping[str, Any]:
    """The JSON object in the answer with most of the `wanted` keys.

    A list counts as the union of its objects, or as the value of the first wanted key. Raises Unreadable.
    """
    body = answer_of(text[:_LONGEST])
    best: Mapping[str, Any] = {}
    for value in _json_values(body):
        named = _members(value, wanted)
        if _count_wanted(named, wanted) > _count_wanted(best, wanted):
            best = named
    if not best:
        raise Unreadable("no JSON object with any of " + ", ".join(wanted))
    return best


def read_lists(
    text: str, wanted: Collection[str], forms: Mapping[str, tuple[str, Sequence[str]]]
) -> Mapping[str, Any]:
    """The same, else the lines of the answer in `forms`. Raises Unreadable."""
    try:
        return read_object(text, wanted)
    except Unreadable as error:
        lines = read_lines(answer_of(text[:_LONGEST]), forms)
        if not lines:
            raise error
        return lines


def _members(value: Any, wanted: Collection[str]) -> Mapping[str, Any]:
    """The members of an object, of an object inside it, or of the objects of a list."""
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, Mapping)]
        together: dict[str, Any] = {}
        for part in parts:
            together.update(_lower_keys(part))
        if _count_wanted(together, wanted) or not parts:
            return together
        return {next(iter(wanted)): parts}
    if not isinstance(value, Mapping):
        return {}
    named = _lower_keys(value)
    if _count_wanted(named, wanted):
        return named
    for member in named.values():
        if isinstance(member, Mapping) and _count_wanted(member, wanted):
            return member
    return named


def _lower_keys(members: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): member for key, member in members.items()}


def _count_wanted(members: Mapping[str, Any], wanted: Collection[str]) -> int:
    return sum(key in members for key in wanted)


def _json_values(body: str) -> Iterator[Any]:
    """JSON values in the text, from left to right; also those inside a list or an unreadable object."""
    position = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(body, position)
        if opening is None:
            return
        position = opening.end()
        try:
            value, end = read_json(body, opening.start())
        except ValueError:
            continue
        if isinstance(value, Mapping) and value:
            position = max(position, end)
        yield value
