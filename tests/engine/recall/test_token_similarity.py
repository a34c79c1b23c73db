"""Late interaction: scores worked out by hand, and what may not change them."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.engine.recall.late_interaction import (
    LateScores,
    Sample,
    late_scores,
    standardise,
    wide_matches,
)

Floats = NDArray[np.float32]
EVEN = 1  # tokens of a memory beside a query of one token: the side of the query counts alone


def rows(*values: list[float]) -> Floats:
    return np.asarray(values, np.float32)


def apart(count: int) -> Sample:
    """Memories without neighbours in the chat."""
    nowhere = np.full(count, -1, np.int64)
    return Sample(nowhere, nowhere, np.ones(count))


def scored(
    best: Floats,
    *,
    idf: list[float] | None = None,
    covered: list[float] | None = None,
    length: int = EVEN,
    sample: Sample | None = None,
) -> LateScores:
    tokens, memories = best.shape
    lengths = np.where(np.isnan(best[0]), 0, length).astype(np.int64)
    return late_scores(
        best,
        np.asarray(covered or [0.0] * memories, np.float32),
        np.asarray(idf or [1.0] * tokens, np.float32),
        lengths,
        sample or apart(memories),
    )


def test_the_score_of_one_token_is_its_standardised_match() -> None:
    result = scored(rows([0.9, 0.5, 0.1]))
    expected = [sqrt(1.5), 0.0, -sqrt(1.5)]
    assert_allclose(result.score, expected, atol=1e-5)
    assert_allclose(result.alone, expected, atol=1e-5)


def test_a_token_counts_by_its_idf() -> None:
    """One memory has the common token, the other the rare one, the third has neither."""
    best = rows([0.9, 0.1, 0.1], [0.1, 0.9, 0.1])
    result = scored(best, idf=[1.0, 3.0], length=2)
    shares = np.asarray([0.3, 0.7, 0.1])
    assert_allclose(result.score, (shares - shares.mean()) / shares.std(), atol=1e-5)


def test_neighbours_lend_a_match_each_way() -> None:
    """The second follows the first, and is better than the third, which says as little."""
    sample = Sample(np.asarray([-1, 0, -1]), np.asarray([1, -1, -1]), np.ones(3))
    result = scored(rows([0.9, 0.1, 0.1]), sample=sample)
    low = -sqrt(0.5)
    assert_allclose(result.alone, [sqrt(2), low, low], atol=1e-5)
    assert_allclose(result.score, [sqrt(1.5), 0.0, -sqrt(1.5)], atol=1e-5)


def test_the_memory_before_lends_only_what_is_better() -> None:
    best = rows([0.9, 0.1, 0.5], [0.2, 0.7, 0.3])
    wide = wide_matches(best, np.asarray([-1, 0, 1]))
    assert_allclose(wide, rows([0.9, 0.9, 0.5], [0.2, 0.7, 0.7]))


@pytest.mark.parametrize(("times", "turned"), [(1, 0.0), (2, 0.5), (3, 1.0), (9, 1.0)])
def test_the_side_of_the_memory_counts_where_the_query_is_longer(times: int, turned: float) -> None:
    """From as long as a memory to three times as long."""
    best = np.repeat(rows([0.9, 0.5, 0.1]), 2 * times, axis=0)
    result = scored(best, covered=[0.1, 0.5, 0.9], length=2)
    forward = np.asarray([sqrt(1.5), 0.0, -sqrt(1.5)])
    assert_allclose(result.score, (1 - 2 * turned) * forward, atol=1e-5)
    assert_allclose(result.alone, result.score, atol=1e-5)


def test_a_memory_without_token_states_has_no_score_and_moves_no_other() -> None:
    """Not even as a neighbour."""
    plain = scored(rows([0.9, 0.5, 0.1]))
    sample = Sample(np.asarray([3, -1, -1, -1]), np.asarray([3, -1, -1, 0]), np.ones(4))
    result = scored(rows([0.9, 0.5, 0.1, np.nan]), sample=sample)
    assert_allclose(result.score, [*plain.score, np.nan], atol=1e-5)
    assert_allclose(result.alone, [*plain.alone, np.nan], atol=1e-5)


def test_without_any_token_states_there_is_no_score() -> None:
    assert np.isnan(scored(rows([np.nan, np.nan])).score).all()


def test_a_mere_neighbour_is_in_no_mean() -> None:
    weight = np.asarray([1.0, 1.0, 1.0, 0.0])
    nowhere = np.full(4, -1, np.int64)
    sample = Sample(nowhere, nowhere, weight)
    result = scored(rows([0.9, 0.5, 0.1, 0.2]), sample=sample)
    assert_allclose(result.score[:3], [sqrt(1.5), 0.0, -sqrt(1.5)], atol=1e-5)


def test_a_memory_that_stands_for_three_counts_as_three() -> None:
    weighted = standardise(np.asarray([1.0, 3.0]), np.asarray([3.0, 1.0]))
    repeated = standardise(np.asarray([1.0, 1.0, 1.0, 3.0]), np.ones(4))
    assert_allclose(weighted, repeated[[0, 3]])
    assert_allclose(weighted, [-0.5 / sqrt(0.75), 1.5 / sqrt(0.75)])


def test_where_all_match_alike_no_score_stands_out() -> None:
    assert_allclose(scored(rows([0.4, 0.4, 0.4])).score, 0.0)


@given(
    st.lists(st.floats(0.0, 1.0, width=32), min_size=6, max_size=6),
    st.floats(0.1, 5.0),
    st.permutations(range(2)),
)
def test_neither_the_unit_nor_the_order_of_tokens_matters(
    values: list[float], unit: float, order: list[int]
) -> None:
    best = np.asarray(values, np.float32).reshape(2, 3)
    if best.mean(axis=0).std() < 0.02:
        return
    plain = scored(best, length=2).score
    other = scored((unit * best[order]).astype(np.float32), length=2).score
    assert_allclose(other, plain, atol=0.01)
