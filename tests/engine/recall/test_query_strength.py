"""How strongly a query brings a memory back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.engine.recall.faded_reading import (
    DRIFTING,
    MEANT,
    MOST_SLOWING,
    query_strength,
    slowing_of,
)

MANY = 10_000  # texts


def strength(standing: float, shared: float = 0.0, best: float = 9.0, texts: int = MANY) -> float:
    """Of a query among many texts."""
    return query_strength(standing, shared, best, texts)


def test_a_text_that_stands_out_is_meant_and_one_among_many_drifts_by() -> None:
    assert strength(DRIFTING) == 0.0
    assert strength(MEANT) == strength(9.0) == 1.0
    assert 0.4 < strength((DRIFTING + MEANT) / 2) < 0.6


def test_words_that_are_shared_mean_a_memory_whatever_stands_out() -> None:
    assert strength(0.0, 0.3) == 0.0
    assert strength(0.0, 0.7) == 1.0


def test_in_a_small_soul_less_stands_out() -> None:
    assert strength(1.5, texts=5) == 1.0
    assert strength(1.5) == 0.0
    assert strength(9.0, texts=1) == 0.0


def test_the_best_of_what_comes_to_mind_is_meant() -> None:
    assert strength(3.2, best=3.2) == 1.0
    assert strength(3.2) < 0.5
    assert strength(2.0, best=2.0) < 0.2


def test_an_age_is_divided_by_one_to_the_most() -> None:
    assert slowing_of(0.0) == 1.0
    assert slowing_of(1.0) == MOST_SLOWING
    assert slowing_of(0.5) == pytest.approx(MOST_SLOWING**0.5)


@given(
    st.floats(-5, 20), st.floats(0, 5), st.floats(0, 1), st.floats(0, 20), st.integers(0, MANY)
)  # fmt: skip
def test_more_standing_never_means_less(
    standing: float, more: float, shared: float, best: float, texts: int
) -> None:
    less = strength(standing, shared, best, texts)
    assert 0.0 <= less <= strength(standing + more, shared, best, texts) <= 1.0
