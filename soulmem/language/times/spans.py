"""Spans of time, and those of a day, a week, a month, a season, a year."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from soulmem.language.word_lists import words

DAY = timedelta(1)
MONTHS = words("en", "times", "months")  # English names, January first
FIRST = -1  # the conversation before which there was none
# First and last month of each season of the northern half of the world; a winter ends in the year after.
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "winter": (12, 2)}
_PARTS = {  # hours, counted from the day's midnight
    "dawn": (0, 6),
    "morning": (5, 12),
    "noon": (11, 15),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (18, 30),
}


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` (inclusive) to `end` (exclusive), both aware."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if not self.start < self.end:
            raise ValueError(f"a span cannot run from {self.start} to {self.end}")


@dataclass(frozen=True, slots=True)
class Today:
    """The moment from which words for time are counted; its zone says when a day begins."""

    current_time: datetime  # aware

    @property
    def this_day(self) -> date:
        """The day it is."""
        return self.current_time.date()

    @property
    def zone(self) -> tzinfo:
        """Where days are counted."""
        zone = self.current_time.tzinfo
        assert zone is not None
        return zone

    def at(self, day: date, hour: int = 0) -> datetime:
        """That hour of a day, 0..48."""
        return datetime.combine(day + DAY * (hour // 24), time(hour % 24), self.zone)

    def days(self, first: date, after: date) -> Span:
        """From a day to the one before `after`."""
        return Span(self.at(first), self.at(after))

    def day(self, back: int) -> Span:
        """The day so many days ago."""
        return self.one(self.this_day - DAY * back)

    def one(self, day: date) -> Span:
        """That day."""
        return self.days(day, day + DAY)

    def part(self, day: date, part: str) -> Span:
        """The morning, the night .. of a day; of a night also the hours after midnight."""
        start, end = _PARTS[part]
        return Span(self.at(day, start), self.at(day, end))

    def week(self, back: int) -> Span:
        """The calendar week, from Monday, so many weeks ago."""
        monday = self.this_day - DAY * (self.this_day.weekday() + 7 * back)
        return self.days(monday, monday + DAY * 7)

    def weekend(self, back: int) -> Span:
        """Saturday and Sunday, with the evening before, of that week."""
        saturday = self.this_day - DAY * (self.this_day.weekday() - 5 + 7 * back)
        return Span(self.at(saturday - DAY, 18), self.at(saturday + DAY * 2))

    def weekday(self, weekday: int, weeks_back: int) -> Span:
        """Monday (0) .. Sunday (6) of the week so many weeks ago."""
        return self.one(
            self.this_day - DAY * (self.this_day.weekday() - weekday + 7 * weeks_back)
        )

    def month(self, year: int, month: int) -> Span:
        """A month; `month` may lie outside 1..12 and then counts on into other years."""
        return self.days(_first(year, month), _first(year, month + 1))

    def months_back(self, back: int) -> Span:
        """The calendar month so many months ago."""
        return self.month(self.this_day.year, self.this_day.month - back)

    def year(self, year: int) -> Span:
        """A calendar year."""
        return self.days(date(year, 1, 1), date(year + 1, 1, 1))

    def years_back(self, back: int) -> Span:
        """The calendar year so many years ago."""
        return self.year(self.this_day.year - back)

    def season(self, year: int, season: str) -> Span:
        """A season that begins in that year."""
        first, last = _SEASONS[season]
        return self.days(
            _first(year, first), _first(year, last + 1 + (12 if last < first else 0))
        )

    def last(self, length: timedelta) -> Span:
        """The time up to now, of that length."""
        return Span(
            self.current_time - length, self.current_time + timedelta(seconds=1)
        )


def _first(year: int, month: int) -> date:
    """The first of a month, counted on into other years."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def third(span: Span, part: str) -> Span:
    """The early, middle or late part of a span, a third of it."""
    step = (span.end - span.start) / 3
    index = {"early": 0, "middle": 1, "late": 2}[part]
    return Span(span.start + index * step, span.start + (index + 1) * step)


@dataclass(frozen=True, slots=True)
class TimeReading:
    """What words for time mean: spans, the likeliest first, or a conversation counted from now."""

    spans: tuple[Span, ...]
    confidence: float  # 0..1, that time was meant at all, and this one
    sessions: int | None = None  # so many conversations ago; FIRST: the first there was
    is_absolute: bool = False  # it names its year: it does not depend on the day it is
