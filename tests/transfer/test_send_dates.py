"""Dates of messages and of the story are read as `dates.json` says, which the extension's tests read as well."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from soulmem.language.times.written_dates import story_date
from soulmem.transfer.send_dates import parse_send_date

TABLE = json.loads(Path(__file__).with_name("dates.json").read_text(encoding="utf-8"))
LOCAL = timezone(timedelta(hours=TABLE["offset_hours"]))


def written(moment: datetime | None) -> str | None:
    """As JavaScript writes it: in UTC, with milliseconds."""
    if moment is None:
        return None
    utc = moment.astimezone(timezone.utc).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"


@pytest.mark.parametrize(("value", "expected"), TABLE["send_dates"])
def test_a_send_date_names_its_moment(value: Any, expected: str | None) -> None:
    moment = parse_send_date(value, LOCAL)
    assert written(moment) == expected
    assert moment is None or moment.microsecond % 1000 == 0


@pytest.mark.parametrize(("text", "expected"), TABLE["story_dates"])
def test_a_message_states_its_date_in_the_story(text: str, expected: str | None) -> None:
    assert written(story_date(text)) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**30])
def test_a_number_that_counts_nothing_names_none(value: float) -> None:
    assert parse_send_date(value, LOCAL) is None


def test_a_megabyte_is_no_date() -> None:
    assert parse_send_date("9" * 1_000_000, LOCAL) is None
    assert story_date("[" + "date " * 200_000) is None


def test_without_a_given_zone_the_machines_own_is_taken() -> None:
    moment = parse_send_date("June 19, 2023 2:20pm")
    assert moment is not None
    here = moment.astimezone().replace(tzinfo=None)
    assert here == datetime(2023, 6, 19, 14, 20)  # noqa: DTZ001 - what a clock there shows
