"""Every format of SillyTavern's send_date gives the right moment."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from soulmem.transfer.send_dates import parse_send_date

TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-03-01T10:20:30.123Z", "2025-03-01T10:20:30.123+00:00"),
        ("2025-03-01T10:20:30.1234567Z", "2025-03-01T10:20:30.123456+00:00"),
        ("2025-03-01T10:20:30.5+02:00", "2025-03-01T10:20:30.5+02:00"),
        ("2025-03-01T10:20:30", "2025-03-01T10:20:30+09:00"),
        (" 2025-03-01T10:20:30Z ", "2025-03-01T10:20:30+00:00"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123+00:00"),
        ("1700000000123", "2023-11-14T22:13:20.123+00:00"),
        (1_700_000_000, "2023-11-14T22:13:20+00:00"),
        (1_700_000_000_123.0, "2023-11-14T22:13:20.123+00:00"),
        ("June 19, 2023 2:20pm", "2023-06-19T14:20:00+09:00"),
        ("June 9, 2023 12:05am", "2023-06-09T00:05:00+09:00"),
        ("December 31, 2023 12:00PM", "2023-12-31T12:00:00+09:00"),
        ("2024-07-12@01h31m37s123ms", "2024-07-12T01:31:37.123+00:00"),
        ("2024-7-2@1h3m7s", "2024-07-02T01:03:07+00:00"),
        ("2023-6-3 @14h 56m 33s 68ms", "2023-06-03T14:56:33.068+00:00"),
    ],
)
def test_a_known_shape_names_its_moment(value: Any, expected: str) -> None:
    moment = parse_send_date(value, TOKYO)
    assert moment is not None
    assert moment.utcoffset() is not None
    assert moment == parse_send_date(expected)
    assert abs(moment - _exact(expected)) < timedelta(microseconds=1000)


@pytest.mark.parametrize(
    "value",
    [
        *(
            None,
            "",
            "yesterday",
            True,
            -5,
            "2024-02-31T10:00:00Z",
            "2024-13-01@01h00m00s",
        ),
        *(
            "Smarch 4, 2023 1:00pm",
            float("nan"),
            float("inf"),
            10**30,
            {"a": 1},
            ["2024-01-01"],
        ),
    ],
)
def test_anything_else_names_none(value: Any) -> None:
    assert parse_send_date(value, TOKYO) is None


def test_without_a_given_zone_the_machines_own_is_taken() -> None:
    moment = parse_send_date("June 19, 2023 2:20pm")
    assert moment is not None
    assert moment.replace(tzinfo=None) == datetime(2023, 6, 19, 14, 20)  # noqa: DTZ001 - what a clock there shows
    assert (
        moment.utcoffset()
        == datetime(2023, 6, 19, 14, 20, tzinfo=timezone.utc).astimezone().utcoffset()
    )


def _exact(text: str) -> datetime:
    head, _, tail = text.partition(".")
    if not tail:
        return datetime.fromisoformat(text)
    digits, zone = tail[:-6], tail[-6:]
    return datetime.fromisoformat(head + zone) + timedelta(
        microseconds=int(digits[:6].ljust(6, "0"))
    )
