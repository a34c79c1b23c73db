"""Times by counting: so many units ago, a date, the latest of what comes every year."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date, timedelta

from soulmem.domain.calendar import shifted
from soulmem.language.times.spans import NoSpan, Span, TimeReading, Today

Reader = Callable[[re.Match[str], Today], "TimeReading | None"]
Rules = Iterable[tuple[re.Pattern[str], Reader]]

_SIZE = {  # days
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "night": 1.0,
    "week": 7.0,
    "fortnight": 14.0,
    "month": 30.44,
    "year": 365.25,
    "decade": 3652.5,
}
_AROUND = {
    "week": 2,
    "fortnight": 3,
    "month": 8,
    "year": 60,
    "decade": 400,
}  # days either side that may be meant
_LONGEST = 200_000  # days; nobody remembers what was before


def back_by(
    today: Today, unit: str, low: float, n: float, high: float, confidence: float
) -> TimeReading | None:
    """`n` units ago, `low` at least and `high` at most; None where that is before anybody's time."""
    size = _SIZE[unit]
    if high * size > _LONGEST:
        return None
    exact = low == high == int(n)
    if size == 1.0 and exact:
        return TimeReading((today.day(int(n)),), confidence)
    if size < 1.0:
        slack = timedelta(size * max(0.5, 0.25 * n, (high - low) / 2))
        moment = shifted(today.current_time, -timedelta(size * n))
        span = Span(shifted(moment, -slack), shifted(moment, slack))
        return TimeReading((span,), confidence)
    around = round(_AROUND.get(unit, 0) * min(1.0, n))
    spans = [today.days_back(round(size * high) + around, round(size * low) - around)]
    if exact and unit in ("week", "month", "year"):
        whole = {
            "week": today.week,
            "month": today.months_back,
            "year": today.years_back,
        }
        spans.append(whole[unit](int(n)))
    return TimeReading(tuple(spans), confidence)


def up_to_now(today: Today, unit: str, most: float, confidence: float) -> TimeReading | None:
    """The last so many units; None where that is before anybody's time."""
    days = _SIZE[unit] * most
    return TimeReading((today.last(timedelta(days)),), confidence) if days < _LONGEST else None


def of_day(today: Today, back: int, part: str | None, confidence: float) -> TimeReading:
    """The day so many days ago, or a part of it and then the whole."""
    return in_day(today, today.day_back(back), part, confidence)


def in_day(
    today: Today, day: date, part: str | None, confidence: float, absolute: bool = False
) -> TimeReading:
    """A day, or a part of it and then the whole."""
    narrow = (today.part(day, part),) if part else ()
    return TimeReading((*narrow, today.one(day)), confidence, is_absolute=absolute)


def days_back(today: Today, least: int, most: int, confidence: float) -> TimeReading:
    """Some day of these."""
    return TimeReading((today.days_back(most, least),), confidence)


def latest(
    today: Today, of_year: Callable[[int], Span | None], year: int | None, is_over: bool
) -> Span | None:
    """What comes every year: that of `year`, else the latest that has begun, or with `is_over` has ended."""
    if year is not None:
        return of_year(year)
    for back in range(-1, 5):
        with suppress(NoSpan):
            span = of_year(today.this_day.year - back)
            if span is not None and (span.end if is_over else span.start) <= today.current_time:
                return span
    return None


def on_day(today: Today, year: int | None, month: int, day: int) -> date | None:
    """A date; without a year the latest such day that has come. None for a day that no month has."""

    def of_year(y: int) -> Span | None:
        try:
            return today.one(date(y, month, day))
        except ValueError:
            return None

    span = latest(today, of_year, year, is_over=False)
    return span.start.date() if span is not None else None


def one_reading(
    span: Span | None, confidence: float, is_absolute: bool = False
) -> TimeReading | None:
    """A reading of one span; None where there is none."""
    return None if span is None else TimeReading((span,), confidence, is_absolute=is_absolute)


def found(rules: Rules, text: str, today: Today) -> Iterator[tuple[int, int, TimeReading]]:
    """Where words of the rules stand in the text, from and to, and what they mean; they may overlap.

    A time that the calendar does not have, such as the year before its first, is none.
    """
    for pattern, read in rules:
        for match in pattern.finditer(text):
            with suppress(NoSpan):
                reading = read(match, today)
                if reading is not None:
                    yield match.start(), match.end(), reading
