"""Does arithmetic with dates stop at the ends of the calendar, and does this computer's zone never fail?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from soulmem.domain.calendar import (
    EPOCH,
    FIRST,
    LAST,
    at_seconds,
    bounded,
    from_local,
    local,
    shifted,
    utc,
)
from soulmem.domain.digests import (
    CALENDAR,
    Period,
    first_instant_after,
    last_instant,
    period_end,
    period_start,
)

START = datetime.min.replace(tzinfo=timezone.utc)
END = datetime.max.replace(tzinfo=timezone.utc)
FIRST_WALL, LAST_WALL = START.replace(tzinfo=None), END.replace(tzinfo=None)
OFFSETS = st.integers(-24 * 60 + 1, 24 * 60 - 1).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)
MOMENTS = st.datetimes(timezones=OFFSETS)
ENDS = [
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
    START,
    END,
]


@pytest.fixture(params=["UTC", "Europe/Berlin", "Pacific/Kiritimati", "Etc/GMT+12"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The zone of this computer."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@given(MOMENTS)
@example(ENDS[0])
@example(ENDS[1])
def test_a_bounded_moment_has_a_date_in_every_zone(moment: datetime) -> None:
    within = bounded(moment)
    assert within.tzinfo is timezone.utc
    for minutes in (-24 * 60 + 1, 24 * 60 - 1):
        within.astimezone(timezone(timedelta(minutes=minutes)))
    if FIRST <= moment <= LAST:
        assert within == moment
    assert bounded(within) == within


@given(MOMENTS, st.timedeltas())
@example(END, timedelta(microseconds=1))
@example(START, timedelta(microseconds=-1))
def test_what_is_shifted_past_an_end_is_that_end(moment: datetime, by: timedelta) -> None:
    to = shifted(moment, by)
    wall = moment.replace(tzinfo=None)
    if FIRST_WALL - wall <= by <= LAST_WALL - wall:
        assert to == moment + by
    else:
        end = LAST_WALL if by > timedelta(0) else FIRST_WALL
        assert to.replace(tzinfo=None) == end
    assert to.tzinfo == moment.tzinfo


def test_days_stop_at_the_ends_as_well() -> None:
    assert shifted(date(9999, 12, 30), timedelta(5)) == date.max
    assert shifted(date(1, 1, 3), timedelta(-5)) == date.min
    assert shifted(date(2026, 3, 1), timedelta(-1)) == date(2026, 2, 28)


@pytest.mark.parametrize("moment", ENDS)
def test_ends_of_the_calendar_have_a_moment_in_utc(moment: datetime) -> None:
    assert utc(moment) in (START, END)


@given(st.floats(allow_nan=False))
@example(253402300800.0)  # the first second after the calendar
@example(-62135596801.0)
def test_seconds_outside_of_the_calendar_are_its_ends(seconds: float) -> None:
    moment = at_seconds(seconds)
    if moment not in (START, END):
        assert moment == EPOCH + timedelta(seconds=seconds)
    else:
        assert seconds >= END.timestamp() or seconds <= START.timestamp()


@pytest.mark.parametrize("moment", [*ENDS, FIRST, LAST, EPOCH])
def test_this_computers_clocks_show_every_moment(zone: str, moment: datetime) -> None:
    assert local(moment) == bounded(moment), zone
    wall = moment.replace(tzinfo=None)
    assert from_local(wall).utcoffset() is not None, zone


class KnownSince1970(datetime):
    """A date and time on a computer that knows no zone for what was before 1970, as Windows."""

    def astimezone(self, tz: tzinfo | None = None) -> KnownSince1970:
        """The moment; raises OSError for the zone of the computer."""
        if tz is None:
            raise OSError(22, "Invalid argument")
        return super().astimezone(tz)


def test_where_the_zone_is_unknown_that_of_the_nearest_known_time_counts(
    zone: str,
) -> None:
    wall = KnownSince1970(1912, 4, 15, 2, 20)
    in_1970 = local(EPOCH + timedelta(2)).utcoffset()
    moment = from_local(wall)
    assert moment.utcoffset() is not None, zone
    assert moment == datetime(1912, 4, 15, 2, 20, tzinfo=timezone(in_1970 or timedelta(0)))


@pytest.mark.parametrize("period", CALENDAR)
@given(wall=st.datetimes())
@example(wall=LAST_WALL)
@example(wall=FIRST_WALL)
def test_every_moment_lies_in_its_period(period: Period, wall: datetime) -> None:
    start = period_start(wall, period)
    end = period_end(start, period)
    assert start <= wall
    assert wall < end or end == LAST_WALL
    assert start < end


@given(MOMENTS)
@example(END)
@example(START)
def test_the_instants_beside_a_moment_are_within_the_calendar(moment: datetime) -> None:
    assert last_instant(moment) <= moment <= first_instant_after(moment)
