"""Which past times does a text speak of? Words for time to spans, counted from a moment in its time zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from soulmem.language.times import chinese, english
from soulmem.language.times.spans import FIRST, Reading, Span, Today

__all__ = ["FIRST", "Span", "TimePhrase", "time_phrases", "without"]

_LONGEST = 2000  # characters that are looked through, the last ones: a longer text tells, it does not ask
_DATE = 0.95  # the confidence of a date
_RANGE = re.compile(r"\s*(?:and|to|until|till|through|[-–—~～至到和])\s*\Z")
_RANGE_START = re.compile(r"(?:\bbetween|\bfrom|从|從|自)\s*(?:the )?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """Words for a past time, and what they mean at the moment they were read."""

    words: str  # as the text writes them
    start: int  # where they stand in the text
    end: int
    spans: tuple[Span, ...]  # the likeliest first; none where a conversation is meant
    confidence: float  # 0..1, that time was meant at all, and this one
    sessions: int | None = (
        None  # so many conversations ago, 1 the last; FIRST: the first there was
    )
    is_absolute: bool = False  # it names its year


def time_phrases(text: str, now: datetime) -> tuple[TimePhrase, ...]:
    """The past times that a text speaks of, in its order; English, Chinese, and the commonest Japanese words.

    now  aware; its zone says when a day begins

    What is still to come is left out, and so is what the text counts from a date of its own ("the week
    before" beside "6 May 2023"). Some 0.2 ms for a line.
    """
    skipped = max(0, len(text) - _LONGEST)
    today, plain = Today(now), text[skipped:].replace("\u2019", "'")
    found: list[tuple[int, int, Reading]] = []
    for language in (english, chinese):
        found += language.readings(plain, today)
    found.sort(key=lambda one: (one[0] - one[1], one[0]))  # the longest words win
    taken: list[tuple[int, int, Reading]] = []
    for start, end, reading in found:
        if all(end <= other[0] or start >= other[1] for other in taken):
            taken.append((start, end, reading))
    phrases = [
        TimePhrase(
            words=text[skipped + start : skipped + end].strip(),
            start=skipped + start,
            end=skipped + end,
            spans=tuple(span for span in reading.spans if span.start <= now),
            confidence=reading.confidence,
            sessions=reading.sessions,
            is_absolute=reading.is_absolute,
        )
        for start, end, reading in sorted(taken, key=lambda one: one[0])
    ]
    phrases = [one for one in phrases if one.spans or one.sessions is not None]
    if any(one.is_absolute for one in phrases):
        phrases = [one for one in phrases if one.is_absolute or one.confidence >= _DATE]
    return tuple(_joined(text, phrases))


def without(text: str, phrases: Sequence[TimePhrase]) -> str:
    """The text with these words taken out."""
    for one in reversed(phrases):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text


def _joined(text: str, phrases: Sequence[TimePhrase]) -> list[TimePhrase]:
    """With two times that bound a third, as in "between 5 and 9 May", made into that one."""
    out: list[TimePhrase] = []
    for one in phrases:
        before = out[-1] if out else None
        if before is not None and _bounds(text, before, one):
            first, last = before.spans[-1], one.spans[-1]
            if first.start > last.start:  # the year stands with the second only
                first = _in_year(first, last.start.year)
            if first.start < last.end:
                out[-1] = replace(
                    before,
                    words=text[before.start : one.end],
                    end=one.end,
                    spans=(Span(first.start, last.end),),
                    is_absolute=one.is_absolute,
                )
                continue
        out.append(one)
    return out


def _bounds(text: str, before: TimePhrase, after: TimePhrase) -> bool:
    if not (
        before.spans and after.spans and _RANGE.match(text[before.end : after.start])
    ):
        return False
    joint = text[before.end : after.start].strip()
    return (
        joint not in ("and", "和")
        or _RANGE_START.search(text[: before.start]) is not None
    )


def _in_year(span: Span, year: int) -> Span:
    length = span.end - span.start
    try:
        start = span.start.replace(year=year)
    except ValueError:  # 29 February
        start = span.start.replace(year=year, day=28)
    return Span(start, start + length)
