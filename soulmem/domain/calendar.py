"""Moments within the calendar: arithmetic that stops at its ends, and the clocks of this computer.

Python's dates end with the years 1 and 9999, and an operation that leaves them raises. A date may come from a
story, a file or a client, so all arithmetic with dates from outside goes through here.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import TypeVar

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(1)
START = datetime.min.replace(tzinfo=timezone.utc)
END = datetime.max.replace(tzinfo=timezone.utc)
# Zones differ from UTC by less than a day, so that a moment within these has a date in every zone.
FIRST, LAST = START + _DAY, END - _DAY
# Windows knows its offset from UTC only between these.
_ZONE_KNOWN = (datetime(1970, 1, 3), datetime(2999, 12, 30))  # noqa: DTZ001

_Day = TypeVar("_Day", date, datetime)


def bounded(moment: datetime) -> datetime:
    """The aware moment in UTC, or the first or last one that has a date in every zone."""
    return min(max(moment, FIRST), LAST).astimezone(timezone.utc)


def within_calendar(value: datetime | None) -> datetime | None:
    """`bounded` of a moment that may be missing."""
    return None if value is None else bounded(value)


def utc(moment: datetime) -> datetime:
    """The aware moment in UTC, or the calendar's end on that side."""
    try:
        return moment.astimezone(timezone.utc)
    except OverflowError:
        return START if moment < EPOCH else END


def exact_utc(moment: datetime) -> datetime:
    """The aware moment in UTC. Raises OverflowError where no calendar in UTC has it."""
    return moment.astimezone(timezone.utc)


def shifted(moment: _Day, by: timedelta) -> _Day:
    """The date or moment so much later, or the calendar's end on that side."""
    try:
        return moment + by
    except OverflowError:
        end = END if by > timedelta(0) else START
        if isinstance(moment, datetime):
            return end.replace(tzinfo=moment.tzinfo)
        return end.date()


def year_within(year: int) -> int:
    """The year, or the first or last one of the calendar."""
    return min(max(year, date.min.year), date.max.year)


def at_seconds(seconds: float) -> datetime:
    """The moment in UTC so many seconds after 1970 begins, or the calendar's end on that side."""
    try:
        return shifted(EPOCH, timedelta(seconds=seconds))
    except OverflowError:  # more than a length of time can be
        return shifted(EPOCH, timedelta.max if seconds > 0 else timedelta.min)


def local(moment: datetime) -> datetime:
    """The aware moment, within `FIRST` and `LAST`, by the clocks of this computer."""
    moment = bounded(moment)
    try:
        return moment.astimezone()
    except (OverflowError, ValueError, OSError):
        return moment.astimezone(_nearest_zone(moment.replace(tzinfo=None)))


def from_local(wall: datetime) -> datetime:
    """The aware moment at which the clocks of this computer show a date and time without a zone."""
    try:
        return wall.astimezone()
    except (OverflowError, ValueError, OSError):
        return local(wall.replace(tzinfo=_nearest_zone(wall)))


def _nearest_zone(wall: datetime) -> timezone:
    """This computer's offset from UTC at the nearest moment for which it knows one."""
    first, last = _ZONE_KNOWN
    offset = min(max(wall, first), last).astimezone().utcoffset()
    return timezone(offset or timedelta(0))
