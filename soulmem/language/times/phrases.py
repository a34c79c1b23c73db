"""The past times that a text speaks of: its words for them as spans, counted from a moment in its time zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from soulmem.domain.calendar import shifted
from soulmem.language.times import chinese_times, english_times
from soulmem.language.times.spans import FIRST, Span, TimeReading, Today

__all__ = ["FIRST", "Span", "TimePhrase", "prepare", "time_phrases", "without"]

_Place = tuple[int, int, TimeReading]  # where words stand, from and to, and their meaning

# characters that are looked through, the last ones: a longer text tells, it does not ask
_LONGEST = 2000
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
    # So many conversations ago, 1 the last; FIRST: the first there was.
    sessions: int | None = None
    is_absolute: bool = False  # it names its year


def time_phrases(text: str, current_time: datetime) -> tuple[TimePhrase, ...]:
    """The past times that a text speaks of, in its order; English, Chinese, and the commonest Japanese words.

    current_time  aware; its zone says when a day begins

    What is still to come is left out, and so is what the text counts from a date of its own ("the week
    before" beside "6 May 2023"). Some 0.2 ms for a line.
    """
    skipped = max(0, len(text) - _LONGEST)
    phrases = []
    for start, end, reading in _readings(text[skipped:], Today(current_time)):
        spans = tuple(span for span in reading.spans if span.start <= current_time)
        if not spans and reading.sessions is None:
            continue
        phrase = TimePhrase(
            words=text[skipped + start : skipped + end].strip(),
            start=skipped + start,
            end=skipped + end,
            spans=spans,
            confidence=reading.confidence,
            sessions=reading.sessions,
            is_absolute=reading.is_absolute,
        )
        phrases.append(phrase)
    if any(phrase.is_absolute for phrase in phrases):
        phrases = [p for p in phrases if p.is_absolute or p.confidence >= _DATE]
    return tuple(_joined(text, phrases))


def prepare() -> None:
    """Compile the patterns, so that the first text with words for a time need not wait for it."""
    english_times.compiled()
    chinese_times.compiled()


def _readings(text: str, today: Today) -> list[_Place]:
    """What the words for times mean, in order and without overlap: the longest words win."""
    plain = text.replace("\u2019", "'")
    candidates: list[_Place] = []
    for language in (english_times, chinese_times):
        candidates += language.readings(plain, today)
    candidates.sort(key=_longest_first)
    chosen: list[_Place] = []
    for place in candidates:
        if not any(_overlaps(place, other) for other in chosen):
            chosen.append(place)
    return sorted(chosen, key=_start)


def _longest_first(place: _Place) -> tuple[int, int]:
    start, end, _ = place
    return start - end, start


def _start(place: _Place) -> int:
    return place[0]


def _overlaps(place: _Place, other: _Place) -> bool:
    return place[0] < other[1] and other[0] < place[1]


def without(text: str, phrases: Sequence[TimePhrase]) -> str:
    """The text with these words taken out."""
    for phrase in reversed(phrases):
        text = f"{text[: phrase.start]} {text[phrase.end :]}"
    return text


def _joined(text: str, phrases: Sequence[TimePhrase]) -> list[TimePhrase]:
    """With two times that bound a third, as in "between 5 and 9 May", made into that one."""
    out: list[TimePhrase] = []
    for phrase in phrases:
        before = out[-1] if out else None
        if before is not None and _bounds(text, before, phrase):
            first, last = before.spans[-1], phrase.spans[-1]
            if first.start > last.start:  # the year stands with the second only
                first = _in_year(first, last.start.year)
            if first.start < last.end:
                out[-1] = replace(
                    before,
                    words=text[before.start : phrase.end],
                    end=phrase.end,
                    spans=(Span(first.start, last.end),),
                    is_absolute=phrase.is_absolute,
                )
                continue
        out.append(phrase)
    return out


def _bounds(text: str, before: TimePhrase, after: TimePhrase) -> bool:
    if not (before.spans and after.spans and _RANGE.match(text[before.end : after.start])):
        return False
    joint = text[before.end : after.start].strip()
    return joint not in ("and", "和") or _RANGE_START.search(text[: before.start]) is not None


def _in_year(span: Span, year: int) -> Span:
    length = span.end - span.start
    try:
        start = span.start.replace(year=year)
    except ValueError:  # 29 February
        start = span.start.replace(year=year, day=28)
    return Span(start, shifted(start, length))
