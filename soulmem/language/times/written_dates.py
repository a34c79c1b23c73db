"""Dates as people write them, with the year: at the beginning of a text, and of the story in a message.

`extension_js/src/base/dates.js` reads them by the same expressions; one table of cases is tested on both.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import NamedTuple

from soulmem.language.times.spans import MONTHS

_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,? )?"
_YEAR_FIRST = re.compile(r"(\d{3,4}) ?[-/.年] ?(\d{1,2}) ?[-/.月] ?(\d{1,2})(?!\d)", re.ASCII)
_MONTH_FIRST = re.compile(
    rf"{_WEEKDAY}([a-z]{{3,9}})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{3,4}})(?!\d)",
    re.IGNORECASE | re.ASCII,
)
_DAY_FIRST = re.compile(
    rf"{_WEEKDAY}(\d{{1,2}})(?:st|nd|rd|th|\.)?[ -](?:of )?([a-z]{{3,9}})\.?,?[ -](\d{{3,4}})(?!\d)",
    re.IGNORECASE | re.ASCII,
)
_HOUR = re.compile(r"[^\d\n]{0,12}(\d{1,2}):(\d{2})(?!\d)", re.ASCII)
_LABEL = re.compile(
    r"(?:(?:story|current|in-game) )?(?:date|time|日期|时间|時間|日付|日時)"
    r" {0,3}[\]】〕」)*_`]{0,3} {0,3}[:：]?",
    re.IGNORECASE,
)
_START = re.compile(r"[^\s>*_#`~|-]")
_BRACKETS = "[({【〔「<"
_EDGE_LINES = 3  # lines at the beginning and at the end of a message that may state a date
_LINE = 160  # characters that are read of such a line


class WrittenDate(NamedTuple):
    """A date at the beginning of a text; it may not exist in the calendar."""

    year: int
    month: int  # 1..12, 0 for an unknown name
    day: int
    length: int  # characters of the text


def date_at_start(text: str) -> WrittenDate | None:
    """The date that the text begins with: 2031-05-03, 812年5月3日, May 3rd, 1924, 3 May 1924."""
    if match := _YEAR_FIRST.match(text):
        year, month, day = map(int, match.groups())
        return WrittenDate(year, month, day, match.end())
    if match := _MONTH_FIRST.match(text):
        return WrittenDate(int(match[3]), month_of(match[1]), int(match[2]), match.end())
    if match := _DAY_FIRST.match(text):
        return WrittenDate(int(match[3]), month_of(match[2]), int(match[1]), match.end())
    return None


def month_of(name: str) -> int:
    """The number of an English month by its name or the first letters of it; 0 for another word."""
    begins = name.casefold()
    found = (n for n, month in enumerate(MONTHS, 1) if month.casefold().startswith(begins))
    return next(found, 0) if len(begins) >= 3 else 0


def story_date(text: str) -> datetime | None:
    """The date in the story, where a message states it in a line of its own ("Date: 812-05-03",
    "【日期】812年5月3日", "[May 3rd, 1924, 18:30]").

    A line without a label counts when the date is in brackets. The last line counts.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    edges = lines[:_EDGE_LINES] + lines[_EDGE_LINES:][-_EDGE_LINES:]
    dates = [_line_date(" ".join(line[:_LINE].split())) for line in edges]
    return next((date for date in reversed(dates) if date is not None), None)


def _line_date(line: str) -> datetime | None:
    start = _START.search(line)
    if start is None:
        return None
    in_bracket = start[0] in _BRACKETS
    bare = line[start.start() + in_bracket :].lstrip(" *_`")
    label = _LABEL.match(bare)
    is_closed = label is not None and any(sign in label[0] for sign in ":：]】")
    if not in_bracket and not is_closed:
        return None
    rest = bare[label.end() if label else 0 :].lstrip(" *_`[({【")
    date = date_at_start(rest)
    if date is None:
        return None
    hour, minute = _time_of_day(rest[date.length :])
    try:
        return datetime(date.year, date.month, date.day, hour, minute, tzinfo=timezone.utc)
    except ValueError:  # no such day
        return None


def _time_of_day(text: str) -> tuple[int, int]:
    """The time of day at the beginning of a text; zeros when there is none."""
    match = _HOUR.match(text)
    if match is None or int(match[1]) >= 24 or int(match[2]) >= 60:
        return 0, 0
    return int(match[1]), int(match[2])
