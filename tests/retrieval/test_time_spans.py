"""Memories of a time span, and selections that cover all its parts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulmem.retrieval.time_spans import (
    TimeSpanParams,
    overlaps_span,
    span_confidence,
    spread_over_time,
)

moments = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)


def test_a_memory_that_reaches_into_a_span_is_inside() -> None:
    happened = np.array([0.0, 5.0, 10.0, 20.0, 2.0])
    ended = np.array([0.0, 10.0, 10.0, 20.0, 30.0])
    assert overlaps_span(happened, ended, 10.0, 20.0).tolist() == [
        False,
        True,
        True,
        False,
        True,
    ]


def test_a_moment_without_an_end_ends_when_it_happened() -> None:
    assert overlaps_span(np.array([15.0]), np.array([0.0]), 10.0, 20.0).tolist() == [True]


def test_a_further_reading_is_less_sure_and_an_empty_one_is_passed_over() -> None:
    moment = np.array([1.0, 11.0, 21.0])
    eligible = np.ones(3, np.bool_)
    sure = span_confidence(
        moment,
        moment,
        eligible,
        [(40.0, 50.0), (10.0, 20.0), (0.0, 30.0)],
        0.9,
        TimeSpanParams(next=0.5),
    )
    np.testing.assert_allclose(sure, [0.45, 0.9, 0.45])
    assert not span_confidence(moment, moment, eligible & False, [(0.0, 30.0)], 0.9).any()


@given(moments, st.integers(1, 10))
def test_every_part_of_a_span_that_holds_something_is_shown(
    moment: list[float], count: int
) -> None:
    happened = np.array(moment)
    chosen = spread_over_time(happened, np.zeros(happened.size, np.float32), count)
    assert len(chosen) == len(set(chosen)) == min(count, happened.size)
    low, high = happened.min(), happened.max()
    if high > low:
        width = (high - low) / count
        part = np.minimum((happened - low) // width, count - 1)
        assert {part[i] for i in chosen} == set(part)


def test_the_worthiest_of_a_part_stands_for_it_and_the_worthiest_part_comes_first() -> None:
    happened = np.array([0.0, 1.0, 2.0, 98.0, 99.0, 100.0])
    worth = np.array([0.1, 0.5, 0.2, 0.3, 0.9, 0.4], np.float32)
    assert spread_over_time(happened, worth, 2) == [4, 1]
    assert spread_over_time(happened, worth, 3) == [4, 1, 5]


def test_nothing_is_spread_over_nothing() -> None:
    assert spread_over_time(np.zeros(0), np.zeros(0, np.float32), 3) == []
    assert spread_over_time(np.zeros(2), np.zeros(2, np.float32), 0) == []
    assert len(spread_over_time(np.zeros(5), np.zeros(5, np.float32), 3)) == 3
