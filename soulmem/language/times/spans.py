"""Spans of time, and those of a day, a week, a month, a season, a year."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from soulmem.domain.calendar import shifted, year_within
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


class NoSpan(ValueError):
    """A time that would end before it begins, as what lies outside of the calendar does."""


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` (inclusive) to `end` (exclusive), both aware. Raises NoSpan."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if not self.start < self.end:
            raise NoSpan(f"a span cannot run from {self.start} to {self.end}")


@dataclass(frozen=True, slots=True)
class Today:
    """The moment from which words for time are counted; its zone says when a day begins.

    What reaches beyond the calendar ends with it; of what lies beyond it there is no span (NoSpan).
    """

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
        """That hour of a day, counted on into other days."""
        midnight = datetime.combine(day, time(0), self.zone)
        return shifted(midnight, timedelta(hours=hour))

    def midnight(self, back: int) -> datetime:
        """When the day so many days ago begins; of one outside of the calendar, the end of it on that side."""
        return self.at(self.this_day, -24 * back)

    def day_back(self, back: int) -> date:
        """The day so many days ago. Raises NoSpan."""
        return Span(self.midnight(back), self.midnight(back - 1)).start.date()

    def days(self, first: date, length: int) -> Span:
        """So many days from that one."""
        return Span(self.at(first), self.at(first, 24 * length))

    def day(self, back: int) -> Span:
        """The day so many days ago."""
        return self.days_back(back, back)

    def days_back(self, most: int, least: int) -> Span:
        """From the day `most` days ago to the end of the one `least` days ago."""
        return Span(self.midnight(most), self.midnight(least - 1))

    def one(self, day: date) -> Span:
        """That day."""
        return self.days(day, 1)

    def part(self, day: date, part: str) -> Span:
        """The morning, the night .. of a day; of a night also the hours after midnight."""
        start, end = _PARTS[part]
        return Span(self.at(day, start), self.at(day, end))

    def week(self, back: int) -> Span:
        """The calendar week, from Monday, so many weeks ago."""
        monday = self.this_day.weekday() + 7 * back
        return self.days_back(monday, monday - 6)

    def weekend(self, back: int) -> Span:
        """Saturday and Sunday, with the evening before, of that week."""
        saturday = self.this_day.weekday() - 5 + 7 * back
        weekend = self.days_back(saturday, saturday - 1)
        return Span(shifted(weekend.start, -timedelta(hours=6)), weekend.end)

    def weekday(self, weekday: int, weeks_back: int) -> Span:
        """Monday (0) .. Sunday (6) of the week so many weeks ago."""
        return self.day(self.this_day.weekday() - weekday + 7 * weeks_back)

    def month(self, year: int, month: int) -> Span:
        """A month; `month` may lie outside 1..12 and then counts on into other years."""
        return self.month_span(year, month, 1)

    def month_span(self, year: int, month: int, length: int) -> Span:
        """So many months from that one."""
        return Span(self._first(year, month), self._first(year, month + length))

    def months_back(self, back: int) -> Span:
        """The calendar month so many months ago."""
        return self.month(self.this_day.year, self.this_day.month - back)

    def year(self, year: int) -> Span:
        """A calendar year."""
        return self.month_span(year, 1, 12)

    def years_back(self, back: int) -> Span:
        """The calendar year so many years ago."""
        return self.year(self.this_day.year - back)

    def season(self, year: int, season: str) -> Span:
        """A season that begins in that year."""
        first, last = _SEASONS[season]
        return self.month_span(year, first, (last - first) % 12 + 1)

    def last(self, length: timedelta) -> Span:
        """The time up to now, of that length."""
        return Span(
            shifted(self.current_time, -length),
            shifted(self.current_time, timedelta(seconds=1)),
        )

    def _first(self, year: int, month: int) -> datetime:
        """When a month begins that is counted on into other years; an end of the calendar outside of it."""
        counted = year + (month - 1) // 12
        day = date(year_within(counted), (month - 1) % 12 + 1, 1)
        return shifted(self.at(day), timedelta(366 * (counted - day.year)))


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
