"""Restraint: how far what costs more has to fit, and how generous a large request is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from soulmem.retrieval.restraint import generosity, least_share, nearness

RESTRAINTS = st.floats(0.0, 2.0)


@given(RESTRAINTS, RESTRAINTS)
def test_nearness_rises_with_restraint(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 0.0 <= nearness(low) <= nearness(high) <= 1.0


def test_without_restraint_all_is_near() -> None:
    assert nearness(0.0) == least_share(0.0, 800, 800) == 0.0


def test_who_asks_for_more_than_the_usual_budget_gets_more() -> None:
    assert generosity(800, 800) == generosity(100, 800) == 1.0
    assert generosity(3200, 800) == 0.25


def test_what_costs_next_to_nothing_of_the_budget_may_stand_further_off() -> None:
    shares = [least_share(0.5, spent, 1000) for spent in (0, 25, 50, 900)]
    assert_allclose(shares, [0.0, 0.25, 0.5, 0.5])


def test_a_budget_of_nothing_is_no_error() -> None:
    assert least_share(0.5, 10, 0) == 0.5
    assert generosity(0, 800) == 1.0
