"""The start distribution of a walk: names by document frequency, best texts, sum 1."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.engine.recall.expansion import SeedParams, seeds
from soulmem.kernels.arrays import Float32s

NONE = np.zeros(0, np.uint32)


def rows_of(*rows: int) -> NDArray[np.uint32]:
    return np.asarray(rows, np.uint32)


def frequency(*counts: int) -> NDArray[np.floating]:
    return np.asarray(counts, np.float64)


def started(
    text: Float32s,
    concepts: NDArray[np.uint32],
    df: NDArray[np.floating],
    **given: object,
) -> Float32s:
    """The whole distribution over rows."""
    rows, share = seeds(text, np.isfinite(text), concepts, df, **given)  # type: ignore[arg-type]
    out = np.zeros(text.size)
    out[rows] = share
    return out.astype(np.float32)


def texts(*scores: float) -> Float32s:
    return np.asarray(scores, np.float32)


@given(
    st.lists(
        st.one_of(st.floats(-5, 5, width=32), st.just(float("nan"))),
        min_size=1,
        max_size=40,
    ),
    st.lists(
        st.tuples(st.integers(0, 39), st.integers(0, 9)),
        max_size=5,
        unique_by=lambda pair: pair[0],
    ),
    st.floats(0.05, 0.9),
)
def test_shares_sum_to_one_over_distinct_rows(
    scores: list[float], named: list[tuple[int, int]], mass: float
) -> None:
    text = texts(*scores)
    frequent = [(row % text.size, df) for row, df in named]
    rows, share = seeds(
        text,
        np.ones(text.size, np.bool_),
        rows_of(*(row for row, _ in frequent)),
        frequency(*(df for _, df in frequent)),
        SeedParams(text_mass=mass),
    )
    assert len(set(rows.tolist())) == rows.size == share.size
    assert (share > 0).all()
    if rows.size:
        assert abs(share.sum() - 1) < 1e-9
    else:
        assert not any(df for _, df in frequent)


def test_a_name_starts_in_inverse_proportion_to_what_mentions_it() -> None:
    start = started(texts(np.nan, np.nan), rows_of(0, 1), frequency(1, 4))
    assert_allclose(start, [0.8, 0.2])


def test_the_more_common_the_names_the_more_starts_at_texts() -> None:
    text = np.asarray([1.0, 0.0, np.nan], np.float32)
    params = SeedParams(text_mass=0.1, common_mass=0.6, common=10.0)
    mass = [
        started(text, rows_of(2), frequency(df), params=params)[:2].sum() for df in (1, 10, 10_000)
    ]
    assert_allclose(mass, [0.1 + 0.5 / 101, 0.35, 0.6], rtol=1e-3)


def test_texts_have_a_fixed_mass_however_many_they_are() -> None:
    rng = np.random.default_rng(0)
    for n in (10, 1000):
        text = np.append(rng.normal(size=n), np.nan).astype(np.float32)
        start = started(
            text,
            rows_of(n),
            frequency(7),
            params=SeedParams(text_mass=0.3, common_mass=0.3, texts=5),
        )
        assert_allclose([start[n], start[:n].sum()], [0.7, 0.3], rtol=1e-5)
        assert np.count_nonzero(start[:n]) == 5
        assert np.argmax(start[:n]) == np.nanargmax(text)


def test_without_a_name_the_texts_start_it_all() -> None:
    start = started(texts(1, 2, 5), NONE, frequency())
    assert_allclose(start.sum(), 1)
    assert start[2] > start[1] > start[0] > 0


def test_a_name_that_leads_nowhere_is_left_out() -> None:
    start = started(texts(1, 2, np.nan), rows_of(2), frequency(0))
    assert start[2] == 0
    assert_allclose(start.sum(), 1)


def test_texts_that_are_all_alike_say_nothing() -> None:
    assert_allclose(started(texts(3, 3, np.nan), rows_of(2), frequency(2)), [0, 0, 1])
    assert not started(texts(3, 3, 3), NONE, frequency()).any()


def test_what_is_not_visible_starts_nothing() -> None:
    text = texts(9, 1, 2)
    rows, _ = seeds(text, np.asarray([False, True, True]), NONE, frequency())
    assert rows.tolist() == [1, 2]


def test_one_deviation_is_worth_the_same_on_any_scale() -> None:
    narrow = started(texts(0.80, 0.81, 0.83), NONE, frequency())
    wide = started(texts(0, 10, 30), NONE, frequency())
    assert_allclose(narrow, wide, rtol=1e-3)


def test_a_name_said_louder_starts_more() -> None:
    start = started(
        texts(np.nan, np.nan),
        rows_of(0, 1),
        frequency(3, 3),
        name_share=np.asarray([0.75, 0.25]),
    )
    assert_allclose(start, [0.75, 0.25])
