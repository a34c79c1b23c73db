"""Where do vectors lie, and what does a row without one answer?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from soulmem.graph import vectors
from soulmem.graph.vectors import VectorTable, cosines_with
from soulmem.kernels.arrays import Float32s
from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.warm import installed_cache, kernels, warm

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
STEPS = st.lists(st.tuples(st.integers(0, 200), st.booleans()), max_size=30)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> Path:
    folder = installed_cache()
    warm(folder)
    return folder


def unit(seed: int, dim: int = 3) -> Float32s:
    """A vector of length 1."""
    vector = np.random.default_rng(seed).normal(size=dim)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def cosines(table: VectorTable, query: Float32s, n: int) -> Float32s:
    """Of the first `n` rows, beside another table that must not change them, and has its own."""
    beside = VectorTable(table.dim)
    beside.put(2, query)
    result, other = cosines_with(query, table, n, beside, 4)
    assert_allclose(other, [np.nan, np.nan, 1, np.nan], atol=0.01)
    return result


def step(vector: Float32s) -> float:
    """How far a component may be from what was put: half a byte of the greatest, and rounding."""
    return float(np.abs(vector).max()) / 254 * 1.02


def built(steps: list[tuple[int, bool]], dim: int) -> tuple[VectorTable, dict[int, Float32s]]:
    """A table after puts and drops, and what was put and not dropped."""
    table, kept = VectorTable(dim), dict[int, Float32s]()
    for row, puts in steps:
        if puts:
            kept[row] = unit(row, dim)
            table.put(row, kept[row])
        else:
            kept.pop(row, None)
            table.drop(row)
    return table, kept


@pytest.mark.parametrize("is_compiled", [True, False])
@given(STEPS, st.sampled_from([1, 3, 17, 384]))
def test_cosines_are_those_of_the_vectors_kept(
    is_compiled: bool, steps: list[tuple[int, bool]], dim: int
) -> None:
    """To within what a byte holds, NaN for each row without one, however the table grew."""
    table, kept = built(steps, dim)
    query = unit(999, dim)
    expected = np.full(210, np.nan, np.float32)
    for row, vector in kept.items():
        expected[row] = vector @ query
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "kernels", kernels if is_compiled else interpreted)
        result = cosines(table, query, 210)
    steps_off = np.sum(np.abs(query)) * max((step(v) for v in kept.values()), default=0.0)
    assert_allclose(result, expected, atol=float(steps_off) + 1e-6)
    assert_allclose(result, table.rows(np.arange(210)) @ query, atol=1e-6)
    assert_array_equal(table.has(210), ~np.isnan(expected))


def test_the_error_of_a_cosine_is_small_beside_what_tells_texts_apart() -> None:
    """Of 384 dimensions: random directions differ by 0.05, the error is a hundredth of that."""
    table, rows = VectorTable(384), np.stack([unit(seed, 384) for seed in range(500)])
    for row, vector in enumerate(rows):
        table.put(row, vector)
    error = np.stack([cosines(table, query, 500) - rows @ query for query in rows[:50]])
    assert np.abs(error).max() < 3e-3
    assert error.std() < 5e-4
    assert abs(float(error.mean())) < 3e-5


def test_rows_come_back_as_put_and_nan_where_there_is_none() -> None:
    """Also for rows the table has never heard of, and for -1 (no row)."""
    table = VectorTable(3)
    table.put(2, unit(2))
    nothing = [np.nan] * 3
    result = table.rows(np.asarray([2, 5, -1, 100_000]))
    assert_allclose(result, np.asarray([unit(2), nothing, nothing, nothing]), atol=step(unit(2)))


def test_a_row_used_again_does_not_answer_with_the_old_vector() -> None:
    """Dropped means gone, until something is put there."""
    table = VectorTable(3)
    table.put(0, unit(0))
    table.drop(0)
    table.drop(100_000)
    assert np.isnan(cosines(table, unit(0), 1)).all()
    table.put(0, unit(1))
    assert_allclose(cosines(table, unit(1), 1), [1.0], atol=0.005)


def test_a_vector_of_nothing_resembles_nothing_and_a_broken_one_is_none() -> None:
    """Neither spoils what stands beside it."""
    table = VectorTable(3)
    for row, vector in enumerate(([0.0, 0, 0], [np.nan, 1, 0], [np.inf, 0, 0], unit(3))):
        table.put(row, np.asarray(vector, np.float32))
    assert_array_equal(table.has(4), [True, False, False, True])
    assert_allclose(cosines(table, unit(3), 4), [0, np.nan, np.nan, 1], atol=0.01)


def test_a_vector_of_another_length_is_refused() -> None:
    """Vectors of another model do not mix in."""
    with pytest.raises(ValueError, match="3 dimensions"):
        VectorTable(3).put(0, unit(0, dim=4))


@given(STEPS, STEPS, st.booleans())
def test_a_packed_table_goes_on_as_the_one_it_was(
    steps: list[tuple[int, bool]], more: list[tuple[int, bool]], is_written: bool
) -> None:
    """Whatever is put and dropped afterwards; arrays that cannot be written are left alone."""
    table, _ = built(steps, 3)
    arrays = {name: array.copy() for name, array in table.packed().items()}
    for array in arrays.values():
        array.flags.writeable = is_written
    other = VectorTable.unpacked(arrays)
    for row, puts in more:
        for item in (table, other):
            item.put(row, unit(row + 500)) if puts else item.drop(row)
    every = np.arange(260)
    assert_array_equal(other.rows(every), table.rows(every))
    assert_array_equal(cosines(other, unit(7), 260), cosines(table, unit(7), 260))


def test_arrays_that_are_no_table_are_refused() -> None:
    """A file of another version does not become vectors."""
    arrays = VectorTable(3).packed()
    with pytest.raises(ValueError, match="no table"):
        VectorTable.unpacked({**arrays, "scale": arrays["scale"][:-1]})
    with pytest.raises(ValueError, match="no table"):
        VectorTable.unpacked({**arrays, "codes": arrays["codes"].astype(np.float32)})


def test_many_vectors_at_once_are_what_each_is_alone() -> None:
    some = [unit(seed, 6) for seed in range(5)]
    some += [np.zeros(6, np.float32), np.full(6, np.nan, np.float32)]
    rows = [9, 2, 0, 7, 4, 5, 1]
    one, other = VectorTable(6), VectorTable(6)
    other.put(5, unit(8, 6))  # what was there is replaced
    for row, vector in zip(rows, some, strict=True):
        one.put(row, vector)
    other.put_all(rows, np.stack(some))
    assert_array_equal(one.has(12), other.has(12))
    at = np.arange(12)
    assert_allclose(one.rows(at), other.rows(at), rtol=1e-6)
    assert_allclose(one.rows(at)[rows[:5]], some[:5], atol=0.02)
    with pytest.raises(ValueError, match="shape"):
        other.put_all([1, 2], np.stack(some[:1]))
