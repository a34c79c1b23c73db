"""Periods of digests: when each begins and ends, and the period and span that a digest tells."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum

from soulmem.domain.calendar import MICROSECOND, shifted
from soulmem.domain.memories import Memory


class Period(str, Enum):
    """The length of time that a digest sums up."""

    HIGHLIGHT = "highlight"  # some minutes of a stream
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"  # from Monday
    MONTH = "month"
    YEAR = "year"
    CHAT = "chat"  # from its first message to its last


# Those that get digests unless the user decides otherwise
BY_THEMSELVES = (Period.DAY, Period.WEEK, Period.MONTH, Period.YEAR, Period.CHAT)
# Those that may get digests by themselves
DIGESTED = (Period.HOUR, *BY_THEMSELVES)
# Of the calendar, the shortest first: a higher one is made from what lower ones tell.
CALENDAR = (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.YEAR)


def period_start(moment: datetime, period: Period) -> datetime:
    """Start of the hour, day, week, month or year around an aware moment, in its own zone."""
    hour = moment.replace(minute=0, second=0, microsecond=0)
    if period is Period.HOUR:
        return hour
    day = hour.replace(hour=0)
    if period is Period.WEEK:
        return shifted(day, -timedelta(days=day.weekday()))
    if period is Period.MONTH:
        return day.replace(day=1)
    return day.replace(month=1, day=1) if period is Period.YEAR else day


def period_end(start: datetime, period: Period) -> datetime:
    """The first moment after the hour, day, week, month or year that begins at `start`, by the clocks there.

    Of the last one of the calendar, its last moment.
    """
    if period is Period.HOUR:
        return shifted(start, timedelta(hours=1))
    days = {Period.DAY: 1, Period.WEEK: 7, Period.MONTH: 32}.get(period, 367)
    later = shifted(start, timedelta(days=days))
    end = period_start(later, period)
    return end if end > start else later


def last_instant(end: datetime) -> datetime:
    """The last moment before an exclusive end, as the end of a time span, which is inclusive."""
    return shifted(end, -MICROSECOND)


def first_instant_after(last: datetime) -> datetime:
    """The exclusive end of a time span that ends with this moment; inverse of `last_instant`."""
    return shifted(last, MICROSECOND)


def period_of(memory: Memory) -> Period | None:
    """The period that a digest sums up; None for any other memory."""
    period = memory.situation.period
    return None if period is None else Period(period)


def digest_span(memory: Memory) -> tuple[datetime, datetime]:
    """What a digest sums up: from (inclusive), to (exclusive)."""
    return memory.happened, first_instant_after(memory.ended)
