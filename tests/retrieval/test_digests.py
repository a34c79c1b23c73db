"""A digest needs a cue that fits it as a whole, the stronger the longer its period and the older it is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from soulmem.domain.digests import Period
from soulmem.retrieval.digests import cue_strength, needed_cue, time_fit

DAY = datetime(2026, 4, 6, tzinfo=timezone.utc)


def test_longer_periods_need_stronger_cues() -> None:
    periods = (Period.DAY, Period.WEEK, Period.MONTH, Period.YEAR)
    assert [needed_cue(period, 10.0, 1.0) for period in periods] == [0.0, 0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    ("age", "forgetting", "more"),
    [(30, 1, 0), (60, 1, 0.25), (120, 1, 0.5), (120, 2, 1.0), (1200, 0, 0), (0, 1, 0)],
)
def test_what_is_older_than_a_month_needs_a_stronger_cue_unless_nothing_is_forgotten(
    age: float, forgetting: float, more: float
) -> None:
    assert needed_cue(Period.WEEK, age, forgetting) == pytest.approx(0.5 + more)


def strength(*scores: float) -> float:
    """The strength of a cue that fits the messages of a digest so well."""
    return cue_strength(np.asarray(scores, np.float32))


def test_a_cue_that_fits_all_is_stronger_than_one_that_fits_a_single_message() -> None:
    assert strength(2, 2, 2, 2) > strength(20, 0, 0, 0)
    assert strength(20, 0, 0, 0) == strength(3, 0, 0, 0)


def test_few_messages_say_little_of_a_day() -> None:
    assert strength(2, 2, 2, 2) > strength(2, 2) > strength(2) > strength() == 0


def test_the_fit_of_times_is_the_share_of_either_in_the_other() -> None:
    day, week = (DAY, DAY + timedelta(1)), (DAY, DAY + timedelta(7))
    assert time_fit(day, week) == pytest.approx((1.0, 1 / 7))
    assert time_fit(week, day) == pytest.approx((1 / 7, 1.0))
    assert time_fit(day, (DAY + timedelta(1), DAY + timedelta(2))) == (0.0, 0.0)
