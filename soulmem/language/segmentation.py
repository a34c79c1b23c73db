"""Sentences: where a text is cut, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from soulmem.language.word_lists import words

# Ends of sentences with what closes them. A point inside a number or a name ends none. The look-behind lets
# no search begin in the middle of a run of points: a text of nothing else is read once.
_CLOSING = "[\"'\u201d\u2019\u300d\u300f\u00bb)\uff09\\]*_]*"
_END = re.compile(
    rf"(?<![.!?\u2026])[.!?\u2026]+{_CLOSING}(?=\s|\Z)|(?<![\u3002\uff01\uff1f])[\u3002\uff01\uff1f]+{_CLOSING}"
    r"|(?<!\*)\*+(?=\s)|\n+"  # *nods* is told apart from what is said
)
_ABBREVIATIONS = frozenset(words("en", "sentences", "abbreviations"))
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))
_OPENING = "([\"“”'‘’*_"  # before the first word of a sentence
_QUOTES = ' \t"“”„«»「」『』'
_EDGES = f"{_QUOTES}'‘’*"
_SHORT = 3  # bytes: Hm, Ok and the like say nothing alone


def pieces(text: str, start: int = 0) -> Iterator[str]:
    """The sentences of the text from `start` on, uncut: together they are all of it.

    A sentence ends behind its mark and what closes with it, behind an action between asterisks, and at a line
    break; an abbreviation ("Dr.") ends none.
    """
    for end in _END.finditer(text, start):
        if not _is_abbreviated(text, end):
            yield text[start : end.end()]
            start = end.end()
    if start < len(text):
        yield text[start:]


def sentences(text: str) -> list[str]:
    """The sentences of the text in order, without space round them."""
    return [part for piece in pieces(text) if (part := piece.strip())]


def without_marks(sentence: str) -> str:
    """A sentence without quotes and asterisks round it; itself where it is nothing else."""
    return sentence.strip().strip(_EDGES) or sentence


def without_quotes(sentence: str) -> str:
    """A sentence without the quotes round it; itself where it is nothing else."""
    return sentence.strip(_QUOTES) or sentence


def thoughts(text: str, most: int) -> list[str]:
    """The sentences without quotes and asterisks round them and without those that say nothing ("Hm."),
    neighbours joined to `most` at most.
    """
    parts = [piece.strip().strip(_EDGES) for piece in pieces(text)]
    telling = [part for part in parts if len(part.encode()) > _SHORT]
    if len(telling) <= most:
        return telling
    size = sum(map(len, telling)) / most
    out: list[str] = []
    length = 0.0
    for part in telling:
        if not out or length >= size * len(out):
            out.append(part)
        else:
            out[-1] = f"{out[-1]} {part}"
        length += len(part)
    return out


def _is_abbreviated(text: str, end: re.Match[str]) -> bool:
    """Whether the point at `end` belongs to an abbreviation."""
    if end.group() != ".":
        return False
    before = text[max(0, end.start() - _LONGEST_ABBREVIATION - 1) : end.start()]
    words_before = before.split()
    if not words_before or before[-1].isspace():
        return False
    return words_before[-1].lstrip(_OPENING).lower() in _ABBREVIATIONS
