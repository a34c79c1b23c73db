"""Do words for time mean what a reader takes them for, and other words nothing?"""

from __future__ import annotations

import time
from datetime import date, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.times.feasts import easter, feast, lunar_day
from soulmem.language.times.phrases import time_phrases, without
from tests.language.marked_times import CONVERSATIONS, NO_TIME, SPANS, WITHIN

NOON = datetime(2026, 3, 14, 12, tzinfo=timezone.utc)
TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(("text", "expected"), SPANS, ids=[text for text, _ in SPANS])
def test_words_mean_these_days(text: str, expected: tuple[tuple[str, str], ...]) -> None:
    found = [one.spans[0] for one in time_phrases(text, NOON)]
    assert [(s.start.date().isoformat(), s.end.date().isoformat()) for s in found] == list(expected)


@pytest.mark.parametrize(("text", "moment"), WITHIN, ids=[text for text, _ in WITHIN])
def test_vague_words_mean_a_span_round_the_time(text: str, moment: str) -> None:
    (one,) = time_phrases(text, NOON)
    span = one.spans[0]
    assert span.start <= datetime.fromisoformat(moment).replace(tzinfo=timezone.utc) < span.end
    assert span.end - span.start < timedelta(400)


@pytest.mark.parametrize(("text", "sessions"), CONVERSATIONS)
def test_conversations_are_counted(text: str, sessions: int) -> None:
    assert [one.sessions for one in time_phrases(text, NOON)] == [sessions]


@pytest.mark.parametrize("text", NO_TIME)
def test_other_words_are_no_time(text: str) -> None:
    assert time_phrases(text, NOON) == ()


@pytest.mark.parametrize(
    ("english", "chinese"), [("last Tuesday", "上周二"), ("last Friday", "上周五")]
)
@given(day=st.integers(0, 20))
def test_both_languages_mean_the_same_weekday(english: str, chinese: str, day: int) -> None:
    now = NOON + timedelta(day)
    ((one,), (other,)) = (time_phrases(text, now) for text in (english, chinese))
    assert one.spans[0] == other.spans[0]


def test_what_is_counted_from_a_date_of_the_text_is_left_out() -> None:
    (one,) = time_phrases("What did you lose last week, as mentioned on November 6, 2023?", NOON)
    assert one.words == "on November 6, 2023"


def test_a_day_begins_where_the_clock_stands() -> None:
    (one,) = time_phrases("yesterday", datetime(2026, 3, 14, 1, tzinfo=TOKYO))
    assert one.spans[0].start == datetime(2026, 3, 13, tzinfo=TOKYO)


@given(
    st.integers(-13_000, 9_000),
    st.sampled_from([text for text, _ in (*SPANS, *WITHIN)]),
)
def test_only_the_past_is_meant_whatever_the_day(days: int, text: str) -> None:
    aware = NOON.astimezone(TOKYO) + timedelta(days)
    for one in time_phrases(text, aware):
        assert one.spans
        assert 0 < one.confidence <= 1
        assert text[one.start : one.end].strip() == one.words
        for span in one.spans:
            assert span.start < span.end
            assert span.start <= aware


@given(
    st.text(
        alphabet="0123456789年月日号前后上下个周昨今一二三十半多 -/.,agowekstrinmyhd",
        max_size=60,
    )
)
def test_no_text_breaks_it(text: str) -> None:
    phrases = time_phrases(text, NOON)
    assert [one.start for one in phrases] == sorted(one.start for one in phrases)
    assert all(a.end <= b.start for a, b in pairwise(phrases))
    kept = len(text) - sum(one.end - one.start for one in phrases)
    assert len(without(text, phrases)) == kept + len(phrases)


def test_a_line_takes_less_than_three_milliseconds() -> None:
    texts = [text for text, _ in SPANS]
    for text in texts:
        time_phrases(text, NOON)
    began = time.process_time()
    for text in texts:
        time_phrases(text, NOON)
    assert (time.process_time() - began) / len(texts) < 0.003


@pytest.mark.parametrize(
    ("year", "month", "day", "expected"),
    [
        (1985, 1, 1, date(1985, 2, 20)),
        (2001, 5, 5, date(2001, 6, 25)),
        (2020, 8, 15, date(2020, 10, 1)),
        (2023, 1, 1, date(2023, 1, 22)),
        (2023, 8, 15, date(2023, 9, 29)),
        (2025, 5, 5, date(2025, 5, 31)),
        (2025, 8, 15, date(2025, 10, 6)),
        (2026, 1, 1, date(2026, 2, 17)),
        (2033, 8, 15, date(2033, 9, 8)),
    ],
)
def test_lunar_days(year: int, month: int, day: int, expected: date) -> None:
    assert lunar_day(year, month, day) == expected


def test_feasts_that_move() -> None:
    assert easter(2024) == date(2024, 3, 31)
    assert easter(2025) == date(2025, 4, 20)
    assert feast("thanksgiving", 2025) == (date(2025, 11, 27), 4)
    assert feast("chinese new year", 2200) is None
    assert feast("monday", 2025) is None


ENDS_OF_TIME = [
    datetime(1, 1, 1, tzinfo=timezone.utc),
    datetime(1, 6, 1, 12, tzinfo=TOKYO),
    datetime(4, 2, 29, tzinfo=timezone.utc),
    datetime(300, 6, 1, 12, tzinfo=timezone.utc),
    datetime(9996, 2, 29, tzinfo=timezone.utc),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(-timedelta(hours=12))),
]
MORE_WORDS = [
    "540 years ago",
    "999 decades ago",
    "between 1 May 1999 and 3 June 2001",
    "last weekend",
    "this weekend",
    "last winter",
    "last Monday night",
    "New Year's Eve",
    "last Christmas",
    "the last 999 years",
    "lately",
    "500年前",
    "去年冬天",
    "上周末",
    "去年除夕",
    "上个月底",
]


@pytest.mark.parametrize("moment", ENDS_OF_TIME, ids=str)
def test_a_story_at_an_end_of_the_calendar_reads_words_for_time(
    moment: datetime,
) -> None:
    """What the calendar does not have is no time; what it has is one, also on its last day."""
    texts = [*MORE_WORDS, *(text for text, _ in (*SPANS, *WITHIN))]
    for text in texts:
        for phrase in time_phrases(text, moment):
            assert all(span.start <= moment for span in phrase.spans), text
    assert [one.words for one in time_phrases("today", moment)] == ["today"]


@pytest.mark.parametrize(
    ("text", "year"), [("yesterday", 1), ("last year", 1), ("540 years ago", 300)]
)
def test_a_time_before_the_calendar_is_none(text: str, year: int) -> None:
    assert time_phrases(text, datetime(year, 1, 1, 12, tzinfo=timezone.utc)) == ()


def test_the_last_day_of_the_calendar_has_a_morning_and_a_night() -> None:
    last = datetime(9999, 12, 31, 23, tzinfo=timezone.utc)
    for text in ("this morning", "tonight", "this week", "this month", "this year"):
        (one,) = time_phrases(text, last)
        assert one.spans[0].start <= last, text
    (yesterday,) = time_phrases("yesterday", last)
    assert yesterday.spans[0].start.day == 30
