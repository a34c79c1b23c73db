"""A digest needs a cue that fits it as a whole, the stronger the longer its period and the older it is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.domain.digests import Period
from soulmem.engine.recall.digest_recall import (
    FEW,
    LEAST,
    MOST,
    cue_strengths,
    needed_cues,
    time_fit,
)

DAY = datetime(2026, 4, 6, tzinfo=timezone.utc)


def least(*periods: Period) -> NDArray[np.float64]:
    """What a cue needs at least for digests of these periods."""
    return np.asarray([LEAST[period] for period in periods])


def test_longer_periods_need_stronger_cues() -> None:
    periods = (Period.DAY, Period.WEEK, Period.MONTH, Period.YEAR)
    needed = needed_cues(least(*periods), np.full(4, 10.0), 1.0)
    assert needed.tolist() == [0.0, 0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    ("age", "forgetting", "more"),
    [(30, 1, 0), (60, 1, 0.25), (120, 1, 0.5), (120, 2, 1.0), (1200, 0, 0), (0, 1, 0)],
)
def test_what_is_older_than_a_month_needs_a_stronger_cue_unless_nothing_is_forgotten(
    age: float, forgetting: float, more: float
) -> None:
    (needed,) = needed_cues(least(Period.WEEK), np.asarray([age], float), forgetting)
    assert needed == pytest.approx(0.5 + more)


def strength(*scores: float) -> float:
    """The strength of a cue that fits the messages of a digest so well."""
    messages = np.asarray([len(scores)])
    return float(cue_strengths(np.asarray(scores, np.float32), messages)[0])


@given(st.lists(st.lists(st.floats(-9, 9, width=32), max_size=20), max_size=8))
def test_the_strength_for_each_of_many_digests_is_the_mean_of_its_own_messages(
    scores: list[list[float]],
) -> None:
    messages = np.asarray([len(each) for each in scores], np.int64)
    flat = np.asarray([s for each in scores for s in each], np.float32)
    plain = [sum(max(-MOST, min(s, MOST)) for s in each) / (len(each) + FEW) for each in scores]
    assert cue_strengths(flat, messages).tolist() == pytest.approx(plain, abs=1e-6)


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
