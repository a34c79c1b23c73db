"""Text of time spans, and of reasons that name one."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from soulmem.assembly.dates import age_text, span_text
from soulmem.assembly.why import Cause, NamedTime, Reason, reason_sentence

UTC = timezone.utc


@pytest.mark.parametrize(
    ("start", "end", "english", "chinese"),
    [
        (
            datetime(2026, 3, 13, tzinfo=UTC),
            datetime(2026, 3, 14, tzinfo=UTC),
            "13 March",
            "3月13日",
        ),
        (
            datetime(2024, 3, 13, tzinfo=UTC),
            datetime(2024, 3, 14, tzinfo=UTC),
            "13 March 2024",
            "2024年3月13日",
        ),
        (
            datetime(2026, 3, 13, 18, tzinfo=UTC),
            datetime(2026, 3, 14, 6, tzinfo=UTC),
            "13 March",
            "3月13日",
        ),
        (
            datetime(2026, 2, 1, tzinfo=UTC),
            datetime(2026, 3, 1, tzinfo=UTC),
            "1 to 28 February",
            "2月1日至2月28日",
        ),
        (
            datetime(2025, 6, 1, tzinfo=UTC),
            datetime(2025, 9, 1, tzinfo=UTC),
            "1 June to 31 August 2025",
            "2025年6月1日至8月31日",
        ),
        (
            datetime(2025, 12, 31, tzinfo=UTC),
            datetime(2026, 1, 2, tzinfo=UTC),
            "31 December 2025 to 1 January 2026",
            "2025年12月31日至2026年1月1日",
        ),
    ],
)
def test_spans_as_a_reader_writes_them(
    start: datetime, end: datetime, english: str, chinese: str
) -> None:
    assert span_text(start, end, 2026, "en") == english
    assert span_text(start, end, 2026, "zh") == chinese


def test_the_reason_tells_the_time_that_was_asked_about() -> None:
    day = NamedTime(
        "前天",
        datetime(2026, 3, 12, tzinfo=UTC),
        datetime(2026, 3, 13, tzinfo=UTC),
        2026,
    )
    assert (
        reason_sentence(Reason(Cause.TIME, time=day), "米拉", "zh")
        == "因为问到了前天（3月12日），米拉想起了这件事。"
    )
    talk = NamedTime("our last chat", None, None, 2026)
    expected = "It came up because you asked about our last chat."
    assert reason_sentence(Reason(Cause.TIME, time=talk), "Mira", "en") == expected


@pytest.mark.parametrize(
    ("days", "english", "chinese"),
    [
        (1, "yesterday", "昨天"),
        (2, "2 days ago", "2天前"),
        (74, "74 days ago", "74天前"),
        (75, "2 months ago", "2个月前"),
        (365, "12 months ago", "12个月前"),
        (700, "2 years ago", "2年前"),
        (3650, "10 years ago", "10年前"),
    ],
)
def test_an_age_is_told_in_words(days: int, english: str, chinese: str) -> None:
    assert (age_text(days, "en"), age_text(days, "zh")) == (english, chinese)
