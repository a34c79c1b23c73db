"""Passages: a text cut into stretches of one to a few sentences, the unit of search and of telling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from soulmem.language.clauses import Stretch
from soulmem.language.scripts import UNSPACED
from soulmem.language.segmentation import pieces

PASSAGE = 240  # characters of a passage: some 60 tokens
_SIGN = 3  # characters that a sign of a script without spaces counts
_WHOLE = 1.5  # passages; a text up to that length is not cut
_UNSPACED = re.compile(f"[{UNSPACED}]")
_COMMA = re.compile("[,;:，；：、\u2014]+\\s*")
_SPACE = re.compile(r"\s+")


def passages(text: str) -> list[Stretch]:
    """Where the passages of the text stand, in order: together they are all of it.

    Sentences stay whole where they are no longer than a passage. Each passage has a letter or a digit, where
    the text has one. A text up to one and a half passages is one.
    """
    total = length_of(text)
    if total <= _WHOLE * PASSAGE:
        return [(0, len(text))]
    size = total / round(total / PASSAGE)
    ends: list[int] = []
    place = done = 0
    says = False  # whether the passage has a letter or a digit
    for part in _parts(text):
        if says and done >= size * (len(ends) + 1) - length_of(part) / 2:
            ends.append(place)
            says = False
        place, done = place + len(part), done + length_of(part)
        says = says or any(map(str.isalnum, part))
    if not says and ends:
        ends.pop()
    return list(zip([0, *ends], [*ends, len(text)], strict=True))


def length_of(text: str) -> int:
    """The length of a text in characters of a script with spaces: what it says grows with that in any script."""
    if text.isascii():
        return len(text)
    return len(text) + (_SIGN - 1) * len(_UNSPACED.findall(text))


def _parts(text: str) -> Iterator[str]:
    """The sentences of the text; longer ones in parts, at commas, else at spaces, else anywhere."""
    for piece in pieces(text):
        if length_of(piece) <= PASSAGE:
            yield piece
            continue
        for clause in _split(piece, _COMMA):
            if length_of(clause) <= PASSAGE:
                yield clause
                continue
            for word in _split(clause, _SPACE):
                yield from _chunks(word)


def _split(text: str, mark: re.Pattern[str]) -> Iterator[str]:
    """The text in parts, each with the mark behind it."""
    start = 0
    for end in mark.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    if start < len(text):
        yield text[start:]


def _chunks(text: str) -> Iterator[str]:
    size = PASSAGE // _SIGN
    for start in range(0, len(text), size):
        yield text[start : start + size]


def grouped(lengths: Sequence[float], room: float) -> list[Stretch]:
    """Neighbours in groups whose lengths add up to `room` at most: first and one after the last of each.

    What is longer than that by itself is a group of its own.
    """
    out: list[Stretch] = []
    start, total = 0, 0.0
    for place, length in enumerate(lengths):
        if place > start and total + length > room:
            out.append((start, place))
            start, total = place, 0
        total += length
    out.append((start, len(lengths)))
    return out
