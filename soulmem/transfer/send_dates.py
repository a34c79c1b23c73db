"""Reads `send_date` of messages: in all formats that SillyTavern has used, and in those of other programs.

`extension_js/src/base/dates.js` reads them by the same expressions; one table of cases is tested on both.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, NamedTuple

from soulmem.domain.calendar import EPOCH, bounded, exact_utc, from_local
from soulmem.language.times.written_dates import WrittenDate, date_at_start, month_of

_LONGEST = 120  # characters of a date
# Seconds; a smaller number is of 1973 or before, so it counts no time since 1970.
_SINCE = 10**8
# From here on a number counts milliseconds: as seconds it is the year 5138.
_MILLISECONDS = 10**11
_NUMBER = re.compile(r"\d{1,17}(?:\.\d{1,9})?", re.ASCII)
_COMPACT = re.compile(
    r"((?:19|20)\d{2})(\d{2})(\d{2})(?:[ T]?(\d{2})(\d{2})(\d{2})?(?:\.\d{1,9})?(Z)?)?",
    re.ASCII,
)
_FILE_STYLE = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?",
    re.IGNORECASE | re.ASCII,
)
# Two parts before the year. With slashes the month comes first, as in JavaScript, unless it can be none.
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d{2})\b\.?", re.ASCII)
# "Wed Jul 12 14:05:00 CEST 2023", as C and its languages write it
_YEAR_AT_END = re.compile(
    r"[a-z]{3}\.? ([a-z]{3}) (\d{1,2}) (\d{1,2}:\d{2}(?::\d{2})?(?: (?:[a-z]{1,4}|[+-]\d{4}))?) (\d{4})",
    re.IGNORECASE | re.ASCII,
)
_CLOCK = re.compile(
    r"[.,T日]{0,2} ?(?:\([^() ]{1,4}\) ?|(?:星期|周|週). ?)?(?:at |um |klo )?"
    r"(上午|下午|午前|午後|오전|오후)? ?(\d{1,2})([:.])(\d{2})(?:\3(\d{2})(?:[.,](\d{1,9}))?)?"
    r" ?(?:([ap])\.? ?m\.?)? ?([a-z]{1,4})? ?([+-]\d{1,2}(?::?\d{2})?)?(?: ?\([^()]{1,60}\))?",
    re.IGNORECASE | re.ASCII,
)
_NO_CLOCK = re.compile(r"[.,日]{0,2}")
_AFTERNOON = ("下午", "午後", "오후", "p")
# hours from UTC of the zones that JavaScript knows by name
# fmt: off
_ZONES = {"Z": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
          "PST": -8, "PDT": -7}
# fmt: on


class _Clock(NamedTuple):
    """A time of day; `zone` is None for one without."""

    hour: int = 0
    minute: int = 0
    second: int = 0
    milli: int = 0
    zone: timezone | None = None


def parse_send_date(value: Any, local: tzinfo | None = None) -> datetime | None:
    """The moment of `value`, aware, in whole milliseconds; None when it is no date.

    Numbers count milliseconds or seconds since 1970. Of texts are read: ISO 8601; "June 19, 2023 2:20pm";
    "2024-07-12@01h31m37s123ms" with or without spaces and milliseconds, which SillyTavern reads as UTC;
    "12.07.2023", "7/12/2023, 2:05:31 PM", "Wed Jul 12 2023 14:05:00 GMT+0200" and their like. A date without a
    zone is in `local` (None: this machine's zone), as in SillyTavern.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _since_1970(float(value))
        if isinstance(value, str) and len(value) <= _LONGEST:
            text = " ".join(value.replace("\u200e", "").replace("\u200f", "").split())
            return _from_text(text, local)
    except (ValueError, OverflowError, OSError):  # a 31st of February, a year 0
        return None
    return None


def _since_1970(number: float) -> datetime | None:
    if not number >= _SINCE:
        return None
    milli = int(number if number >= _MILLISECONDS else number * 1000)
    return bounded(EPOCH + timedelta(milliseconds=milli))


def _from_text(text: str, local: tzinfo | None) -> datetime | None:
    if match := _COMPACT.fullmatch(text):
        year, month, day, hour, minute, second = (int(n or 0) for n in match.groups()[:6])
        zone = timezone.utc if match[7] else None
        return _moment(
            WrittenDate(year, month, day, 0),
            _Clock(hour, minute, second, 0, zone),
            local,
        )
    if _NUMBER.fullmatch(text):
        return _since_1970(float(text))
    if match := _FILE_STYLE.fullmatch(text):
        year, month, day, hour, minute, second, milli = (int(n or 0) for n in match.groups())
        return _moment(
            WrittenDate(year, month, day, 0),
            _Clock(hour, minute, second, milli, timezone.utc),
            local,
        )
    if match := _YEAR_AT_END.fullmatch(text):
        date: WrittenDate | None = WrittenDate(int(match[4]), month_of(match[1]), int(match[2]), 0)
        rest = match[3]
    else:
        date = date_at_start(text) or _year_last(text)
        rest = text[date.length :] if date else ""
    clock_read = _Clock() if _NO_CLOCK.fullmatch(rest) else _clock(rest)
    if date is None or clock_read is None:
        return None
    return _moment(date, clock_read, local)


def _year_last(text: str) -> WrittenDate | None:
    match = _YEAR_LAST.match(text)
    if match is None:
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    day, month = first, second
    if match[2] == "/" and first <= 12:
        day, month = second, first
    return WrittenDate(year + 2000 * (year < 100), month, day, match.end())


def _clock(text: str) -> _Clock | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    before, hour_, _, minute, second, fraction, after, zone_name, offset = match.groups()
    hour, half = int(hour_), before or (after or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + 12 * (half in _AFTERNOON)
    zone = None
    if zone_name or offset:
        hours = _ZONES.get((zone_name or "Z").upper())
        if hours is None:
            return None
        zone = timezone(_offset(offset) if offset else timedelta(hours=hours))
    milli = int((fraction or "0")[:3].ljust(3, "0"))
    return _Clock(hour, int(minute), int(second or 0), milli, zone)


def _offset(text: str) -> timedelta:
    """Of "+0200", "+02:00", "-5"."""
    digits = text[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return -offset if text[0] == "-" else offset


def _moment(date: WrittenDate, clock: _Clock, local: tzinfo | None) -> datetime:
    moment = datetime(
        date.year,
        date.month,
        date.day,
        clock.hour,
        clock.minute,
        clock.second,
        clock.milli * 1000,
        clock.zone or local,
    )
    if moment.tzinfo is None:
        moment = from_local(moment)
    return bounded(exact_utc(moment))  # raises OverflowError
