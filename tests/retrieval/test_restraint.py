"""Restraint: what is evidence that a line calls for a memory, and how high the bar stands."""

from __future__ import annotations

from math import log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.retrieval.rarity import rarity
from soulmem.retrieval.restraint import (
    RestraintParams,
    bar,
    evidence,
    generosity,
    least_share,
    line_evidence,
    nearness,
)

Floats = NDArray[np.float32]
RESTRAINTS = st.floats(0.0, 2.0)
USUAL = 0.5  # cosine of every token with plain lines


def evidence_of(
    matches: list[list[float]],
    pieces: list[int] | None = None,
    idf: float = 2.0,
    rarity: float = 3.0,
) -> Floats:
    """Of tokens that are all as usual and as rare."""
    count = len(matches)
    return evidence(
        np.asarray(matches, np.float32),
        np.full(count, idf, np.float32),
        np.full(count, USUAL, np.float32),
        np.full(count, rarity, np.float32),
        np.asarray(pieces or list(range(count)), np.int32),
    )


def test_evidence_is_what_a_memory_matches_beyond_plain_lines() -> None:
    """By how rare the piece is in this soul and among plain lines."""
    assert_allclose(evidence_of([[0.8, 0.5]]), [log1p(2 * 3 * 0.3 / 6), 0.0], rtol=1e-5)
    summed = evidence_of([[0.8], [0.6]])
    assert_allclose(summed, [log1p(2 * 3 * (0.3 + 0.1) / 6)], rtol=1e-5)


def test_what_plain_lines_match_as_well_is_none() -> None:
    assert_allclose(evidence_of([[0.2, 0.5], [0.4, 0.1]]), 0.0)


def test_a_repeated_piece_counts_once() -> None:
    """With its best match in each memory."""
    twice = evidence_of([[0.8, 0.6], [0.7, 0.9]], pieces=[7, 7])
    assert_allclose(twice, evidence_of([[0.8, 0.9]]))


@given(st.lists(st.floats(-1.0, USUAL, width=32), max_size=30))
def test_length_alone_is_no_evidence(more: list[float]) -> None:
    """However many words a line has that plain lines have too."""
    plain = evidence_of([[0.8, 0.4]])
    longer = evidence_of([[0.8, 0.4], *([match, match] for match in more)])
    assert_allclose(longer, plain, rtol=1e-5)


def test_a_memory_without_token_states_is_no_evidence() -> None:
    assert_allclose(evidence_of([[np.nan], [np.nan]]), [0.0])


@given(RESTRAINTS, RESTRAINTS)
def test_bar_and_nearness_rise_with_restraint(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 0.0 <= bar(low, 1.0) <= bar(high, 1.0)
    assert 0.0 <= nearness(low) <= nearness(high) <= 1.0


def test_without_restraint_there_is_no_bar_and_all_is_near() -> None:
    assert bar(0.0, 1.0) == nearness(0.0) == least_share(0.0, 800, 800) == 0.0


def test_the_parameters_stand_for_restraint_1_and_2() -> None:
    params = RestraintParams(bar=0.4, near=0.5, most_near=0.9)
    assert bar(1.0, 1.0, params) == 0.4
    assert bar(2.0, 0.5, params) == pytest.approx(0.4)
    assert nearness(1.0, 1.0, params) == 0.5
    assert nearness(1.5, 1.0, params) == pytest.approx(0.7)
    assert nearness(2.0, 1.0, params) == pytest.approx(0.9)


def test_who_asks_for_more_than_the_usual_budget_meets_a_lower_bar() -> None:
    assert generosity(800, 800) == generosity(100, 800) == 1.0
    assert generosity(3200, 800) == 0.25
    assert bar(1.0, generosity(3200, 800)) == pytest.approx(bar(1.0, 1.0) / 4)


def test_what_costs_next_to_nothing_of_the_budget_may_stand_further_off() -> None:
    params = RestraintParams(cheap=0.1)
    shares = [least_share(0.5, spent, 1000, params) for spent in (0, 50, 100, 900)]
    assert_allclose(shares, [0.0, 0.25, 0.5, 0.5])


def test_a_budget_of_nothing_is_no_error() -> None:
    assert least_share(0.5, 10, 0) == 0.5
    assert generosity(0, 800) == 1.0


def floats(*values: float) -> Floats:
    return np.asarray(values, np.float32)


def test_a_line_is_judged_by_words_that_a_memory_shares_and_plain_lines_do_not() -> (
    None
):
    nothing = floats()
    both = line_evidence(floats(60, 20), floats(20), nothing, nothing)
    assert both == pytest.approx(log1p(3) - log1p(1))
    assert line_evidence(floats(20), floats(60), nothing, nothing) == pytest.approx(
        log1p(1) - log1p(3)
    )
    assert line_evidence(nothing, nothing, nothing, nothing) == 0.0


def test_a_line_that_says_more_of_both_is_no_more_evidence() -> None:
    """Length tells nothing."""
    short = line_evidence(floats(36), floats(36), floats(), floats())
    long = line_evidence(floats(90), floats(90), floats(), floats())
    assert short == long == 0.0


def test_cosines_count_in_standard_deviations_of_those_of_plain_lines() -> None:
    """Models differ in how far their cosines lie apart."""
    lines = np.linspace(0.0, 0.2, 101, dtype=np.float32)
    excess = (0.5 - np.quantile(lines, 0.99)) / lines.std()
    by_vectors = line_evidence(floats(), floats(), floats(0.1, 0.5), lines)
    assert by_vectors == pytest.approx(0.4 * excess, rel=1e-5)
    narrow = line_evidence(
        floats(), floats(), floats(0.01, 0.05), np.asarray(lines / 10, np.float32)
    )
    assert narrow == pytest.approx(by_vectors, rel=1e-5)
    assert line_evidence(floats(), floats(), floats(0.1), lines) < 0


def test_cosines_without_plain_lines_tell_nothing() -> None:
    assert line_evidence(floats(20), floats(), floats(0.9), floats()) == pytest.approx(
        log1p(1)
    )
    assert line_evidence(floats(), floats(), floats(), floats(0.9, 0.1)) == 0.0


def test_words_that_fewer_texts_have_are_rarer_within_limits() -> None:
    rare = rarity(np.asarray([0, 1, 5, 100]), 100)
    assert (np.diff(rare) < 0).all()
    assert rare[-1] == np.float32(0.3)
    assert rarity(np.asarray([0]), 10**6)[0] == 9.0
