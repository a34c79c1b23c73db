"""Where do vectors lie, and what does a row without one answer?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from soulmem.graph.vectors import Floats, VectorTable

STEPS = st.lists(st.tuples(st.integers(0, 200), st.booleans()), max_size=30)


def unit(seed: int, dim: int = 3) -> Floats:
    """A vector of length 1."""
    vector = np.random.default_rng(seed).normal(size=dim)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


@given(STEPS)
def test_cosines_are_those_of_the_vectors_kept(steps: list[tuple[int, bool]]) -> None:
    """Exact for each kept vector, NaN for each row without one, however the table grew."""
    table, kept = VectorTable(3), dict[int, Floats]()
    for row, puts in steps:
        if puts:
            kept[row] = unit(row)
            table.put(row, kept[row])
        else:
            kept.pop(row, None)
            table.drop(row)
    query = unit(999)
    expected = np.full(210, np.nan, np.float32)
    for row, vector in kept.items():
        expected[row] = vector @ query
    assert_allclose(table.cosines(query, 210), expected, atol=1e-6)
    assert_array_equal(table.has(210), ~np.isnan(expected))


def test_rows_come_back_as_put_and_nan_where_there_is_none() -> None:
    """Also for rows the table has never heard of, and for -1 (no row)."""
    table = VectorTable(3)
    table.put(2, unit(2))
    nothing = [np.nan] * 3
    assert_array_equal(
        table.rows(np.asarray([2, 5, -1, 100_000])), np.asarray([unit(2), nothing, nothing, nothing])
    )


def test_a_row_used_again_does_not_answer_with_the_old_vector() -> None:
    """Dropped means gone, until something is put there."""
    table = VectorTable(3)
    table.put(0, unit(0))
    table.drop(0)
    table.drop(100_000)
    assert np.isnan(table.cosines(unit(0), 1)).all()
    table.put(0, unit(1))
    assert_allclose(table.cosines(unit(1), 1), [1.0], rtol=1e-6)


def test_a_vector_of_another_length_is_refused() -> None:
    """Vectors of another model do not mix in."""
    with pytest.raises(ValueError, match="3 dimensions"):
        VectorTable(3).put(0, unit(0, dim=4))
