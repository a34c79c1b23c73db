"""Text of a span of days, in English or Chinese."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from soulmem.domain.digests import Period, last_instant
from soulmem.language.times.spans import MONTHS

# a span that ends before six in the morning ends with the day before
_NIGHT = timedelta(hours=6)
# An age is told in days below so many, in months below so many days, else in years.
_DAYS_TOLD, _MONTHS_TOLD = 75, 700


def span_text(start: datetime, end: datetime, year: int, language: str) -> str:
    """The days from `start` (inclusive) to `end` (exclusive), "en" or "zh"; `year` is left out."""
    first = start.date()
    last = max(first, last_instant(end).date())
    if last > first and end - start < timedelta(1) and end.hour <= 6:
        last = max(first, last_instant(end - _NIGHT).date())
    named = first.year != year or last.year != year
    return (_chinese if language == "zh" else _english)(first, last, named)


def _chinese(first: date, last: date, named: bool) -> str:
    head = f"{first.year}年" if named else ""
    if first == last:
        return f"{head}{first.month}月{first.day}日"
    tail = f"{last.year}年" if last.year != first.year else ""
    return f"{head}{first.month}月{first.day}日至{tail}{last.month}月{last.day}日"


def _english(first: date, last: date, named: bool) -> str:
    tail = f" {last.year}" if named else ""
    if first == last:
        return f"{first.day} {MONTHS[first.month - 1]}{tail}"
    head = f" {first.year}" if first.year != last.year else ""
    month = f" {MONTHS[first.month - 1]}" if head or first.month != last.month else ""
    return f"{first.day}{month}{head} to {last.day} {MONTHS[last.month - 1]}{tail}"


def age_text(days: int, language: str) -> str:
    """How long ago something was, in words, "en" or "zh"; `days` > 0, days that began since."""
    is_chinese = language == "zh"
    if days == 1:
        return "昨天" if is_chinese else "yesterday"
    if days < _DAYS_TOLD:
        return f"{days}天前" if is_chinese else f"{days} days ago"
    if days < _MONTHS_TOLD:
        months = round(days / 30.4)
        return f"{months}个月前" if is_chinese else f"{months} months ago"
    years = max(2, round(days / 365.25))
    return f"{years}年前" if is_chinese else f"{years} years ago"


def period_text(start: datetime, end: datetime, period: Period, language: str) -> str:
    """The period from `start` (inclusive) to `end` (exclusive), "en" or "zh", with its year."""
    is_chinese = language == "zh"
    if period is Period.MONTH:
        name = MONTHS[start.month - 1]
        return f"{start.year}年{start.month}月" if is_chinese else f"{name} {start.year}"
    if period is Period.YEAR:
        return f"{start.year}年" if is_chinese else str(start.year)
    days = span_text(start, end, 0, language)
    if period in (Period.HOUR, Period.HIGHLIGHT):
        clock = f"{start:%H:%M}", f"{end:%H:%M}"
        return f"{days}{'至'.join(clock)}" if is_chinese else f"{days}, {' to '.join(clock)}"
    return days
