"""What does an answer say: as JSON wherever it stands in it, or as lines?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from soulmem.domain.llm import Unreadable
from soulmem.prompts.reading.lenient_json import read_json
from soulmem.prompts.reading.line_form import read_lines
from soulmem.prompts.reading.unwrapping import answer_of

_OPENING = re.compile(r"[{\[]")
_TRIES = 24  # places at which JSON may begin
_LONGEST = 60_000  # signs of an answer; whatever is behind them is no answer to us


def read_object(text: str, wanted: Collection[str]) -> Mapping[str, Any]:
    """The JSON object of the answer that has most of the `wanted` keys, wherever it stands.

    A list stands for its objects together, or for the first wanted key. Raises Unreadable.
    """
    body = answer_of(text[:_LONGEST])
    best: Mapping[str, Any] = {}
    for found in _values(body):
        named = _named(found, wanted)
        if _known(named, wanted) > _known(best, wanted):
            best = named
    if not best:
        raise Unreadable("no JSON object with any of " + ", ".join(wanted))
    return best


def read_lists(
    text: str, wanted: Collection[str], forms: Mapping[str, tuple[str, Sequence[str]]]
) -> Mapping[str, Any]:
    """The same, or what the answer says in the form of lines. Raises Unreadable."""
    try:
        return read_object(text, wanted)
    except Unreadable as error:
        lines = read_lines(answer_of(text[:_LONGEST]), forms)
        if not lines:
            raise error
        return lines


def _named(found: Any, wanted: Collection[str]) -> Mapping[str, Any]:
    """The members of what was found, or of an object inside it."""
    if isinstance(found, list):
        parts = [part for part in found if isinstance(part, Mapping)]
        together = {
            str(key).strip().lower(): value
            for part in parts
            for key, value in part.items()
        }
        return (
            together
            if _known(together, wanted) or not parts
            else {next(iter(wanted)): parts}
        )
    if not isinstance(found, Mapping):
        return {}
    named = {str(key).strip().lower(): value for key, value in found.items()}
    inner = (
        value
        for value in named.values()
        if isinstance(value, Mapping) and _known(value, wanted)
    )
    return named if _known(named, wanted) else next(inner, named)


def _known(found: Mapping[str, Any], wanted: Collection[str]) -> int:
    return sum(key in found for key in wanted)


def _values(body: str) -> Iterator[Any]:
    """Values in the text, from left to right; a list, or an object without members, may hide a better one."""
    at = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(body, at)
        if opening is None:
            return
        at = opening.end()
        try:
            value, end = read_json(body, opening.start())
        except ValueError:
            continue
        if isinstance(value, Mapping) and value:
            at = max(at, end)
        yield value
