"""By how much a query is added to a memory vector, or taken out of it."""

from __future__ import annotations

from math import cos, pi

import pytest

from soulmem.consolidation.plasticity import growth, strengthened, weakened


def test_growth_falls_from_two_over_pi_to_nothing_at_length_one() -> None:
    assert growth(0.0) == pytest.approx(2 / pi)
    assert growth(0.5) == pytest.approx(2 / pi * cos(pi / 4))
    assert growth(1.0) == pytest.approx(0.0)
    assert growth(1.7) == growth(1.0)


def test_uses_add_up_to_a_vector_of_length_one() -> None:
    first = strengthened(0.0, 0.0, 1.0)
    assert first == pytest.approx(2 / pi)
    assert strengthened(0.0, 0.0, 3.0) == pytest.approx(
        first
        + strengthened(first, first, 1.0)
        + strengthened(
            first + strengthened(first, first, 1.0),
            first + strengthened(first, first, 1.0),
            1.0,
        )
    )
    assert 0.98 < strengthened(0.0, 0.0, 3.0) <= 1.0
    assert strengthened(0.0, 0.0, 50.0) == pytest.approx(1.0, abs=0.02)
    assert strengthened(1.0, 0.2, 1.0) == pytest.approx(0.0)


def test_a_use_of_a_small_share_adds_that_share() -> None:
    assert strengthened(0.0, 0.0, 0.25) == pytest.approx(0.25 * 2 / pi)
    assert strengthened(0.0, 0.0, 0.0) == 0.0


def test_a_query_across_a_long_vector_adds_less_than_along_none() -> None:
    """Length counts, whatever the vector points to."""
    assert 0.0 < strengthened(0.8, 0.0, 1.0) < strengthened(0.0, 0.0, 1.0)
    assert strengthened(0.8, -0.8, 2.0) > strengthened(0.8, 0.8, 2.0)


def test_a_penalty_takes_only_what_points_along_the_query() -> None:
    assert weakened(0.6, 1.0) == pytest.approx(-0.6)
    assert weakened(0.6, 0.2) == pytest.approx(-0.12)
    assert weakened(-0.6, 1.0) == 0.0
    assert weakened(0.0, 1.0) == 0.0
