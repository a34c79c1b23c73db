"""Reads `send_date` of SillyTavern messages, in all formats that SillyTavern has used."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any

from soulmem.domain.calendar import EPOCH, bounded, from_local
from soulmem.language.times.spans import MONTHS

_MONTHS = [name[:3].lower() for name in MONTHS]
_SPOKEN = re.compile(
    r"\b([A-Za-z]{3,})\s+(\d{1,2}),\s*(\d{4})\s+(\d{1,2}):(\d{2})\s*(am|pm)",
    re.IGNORECASE,
)
_FILE_STYLE = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?",
    re.IGNORECASE,
)
_ISO_FRACTION = re.compile(r"\.(\d+)")


def parse_send_date(value: Any, local: tzinfo | None = None) -> datetime | None:
    """The moment of `value`, aware; None when it is not a date.

    Formats: ISO 8601; milliseconds or seconds since 1970, as number or digits; "June 19, 2023 2:20pm";
    "2024-07-12@01h31m37s123ms" with or without spaces and milliseconds, which SillyTavern reads as UTC.
    A date without a zone is in `local` (None: this machine's zone), as in SillyTavern.
    """
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, (int, float)) or (
            isinstance(value, str) and value.strip().isdecimal()
        ):
            return _since_1970(float(value))
        if isinstance(value, str):
            return bounded(_from_text(value.strip(), local))
    except (ValueError, OverflowError, OSError):  # a 31st of February, a year 0
        return None
    return None


def _since_1970(number: float) -> datetime | None:
    if number < 0:
        return None
    # 1e11 ms is 1973, 1e11 s the year 5138
    seconds = number / 1000 if number >= 1e11 else number
    return bounded(EPOCH + timedelta(seconds=seconds))


def _from_text(text: str, local: tzinfo | None) -> datetime:
    if match := _SPOKEN.search(text):
        month, day, year, hour, minute, half = match.groups()
        hour24 = int(hour) % 12 + (12 if half.lower() == "pm" else 0)
        number = _MONTHS.index(month[:3].lower()) + 1
        return _iso_in(f"{year}-{number:02}-{int(day):02}T{hour24:02}:{minute}", local)
    if match := _FILE_STYLE.search(text):
        *whole, milli = match.groups()
        year_, month_, day_, hour_, minute_, second_ = map(int, whole)
        micro = int(milli or 0) * 1000
        return datetime(
            year_, month_, day_, hour_, minute_, second_, micro, timezone.utc
        )
    return _iso_in(text, local)


def _iso_in(text: str, local: tzinfo | None) -> datetime:
    """The moment of an ISO date; Python 3.10 reads no trailing Z and only fractions of 3 or 6 digits."""
    text = re.sub(r"[Zz]$", "+00:00", text)
    moment = datetime.fromisoformat(
        _ISO_FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), text)
    )
    if moment.tzinfo is not None:
        return moment
    return from_local(moment) if local is None else moment.replace(tzinfo=local)
