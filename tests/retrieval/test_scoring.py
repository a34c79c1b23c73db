"""The rank score of text, walk and weight; a greater weight never lowers it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from soulmem.kernels.arrays import Float32s
from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.warm import kernels
from soulmem.retrieval import scoring
from soulmem.retrieval.scoring import (
    ScoreParams,
    combine,
    scaled,
    walk_share_elsewhere,
    walk_weight,
    weight_factor,
)
from tests.retrieval.oracles import combined


def floats(*values: float) -> Float32s:
    return np.asarray(values, np.float32)


def everyone(n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.ones(n, np.bool_)


@given(
    st.floats(-6, 6, width=32),
    st.floats(-6, 6, width=32),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_better_text_or_a_greater_weight_never_lowers(
    a: float, b: float, light: float, heavy: float
) -> None:
    low, high = sorted((a, b))
    less, more = sorted((light, heavy))
    for factor in weight_factor(floats(less, more)):
        item = scaled(floats(low, high), np.full(2, factor, np.float32))
        assert item[0] <= item[1]
    for score in (low, high):
        two = scaled(floats(score, score), weight_factor(floats(less, more)))
        assert two[0] <= two[1]


def test_a_walk_is_heard_the_more_the_rarer_the_rarest_name_it_began_at() -> None:
    params = ScoreParams(walk=2.0, least=0.25, common=10.0)
    heard = [
        walk_weight(np.asarray(df, np.float64), params) for df in ([1, 900], [10], [900], [0], [])
    ]
    assert_allclose(heard, [0.5 + 1.5 / 1.01, 1.25, 0.5, 0.5, 0.5], rtol=1e-3)


def test_what_fits_the_mood_gains() -> None:
    plain, fitting = weight_factor(floats(0.5, 0.5), floats(0, 1))
    assert fitting > 1.3 * plain
    assert weight_factor(floats(0.5)).tolist() == [plain]


def test_of_two_equal_texts_the_weightier_comes_first() -> None:
    text = floats(5, 5, 1, 0)
    nothing = np.zeros(4, np.float32)
    score = combine(text, nothing, everyone(4), weight_factor(floats(0.5, 0.7, 0.5, 1.0)))
    assert np.argsort(-score)[:2].tolist() == [1, 0]


def test_weight_does_not_drown_the_text() -> None:
    rng = np.random.default_rng(1)
    text = np.append(5, rng.normal(size=200)).astype(np.float32)
    # all that importance can differ
    weight = np.append(0.45, np.full(200, 0.7)).astype(np.float32)
    assert (
        np.argmax(combine(text, np.zeros(201, np.float32), everyone(201), weight_factor(weight)))
        == 0
    )


def test_the_walk_lifts_what_no_text_calls_for() -> None:
    text = np.append([4, 0], np.random.default_rng(2).normal(size=98)).astype(np.float32)
    walked = np.zeros(100, np.float32)
    walked[:2] = 0.3, 0.2
    alike = np.ones(100, np.float32)
    assert np.argsort(-combine(text, walked, everyone(100), alike))[:2].tolist() == [
        0,
        1,
    ]
    assert np.argsort(-combine(text, 0 * walked, everyone(100), alike))[1] != 1


def test_a_walk_that_stayed_where_it_started_is_not_heard() -> None:
    text, walked = floats(3, 2, 1, 0), floats(0.1, 0.2, 0.3, 0.4)
    alike = np.ones(4, np.float32)
    alone = combine(text, 0 * walked, everyone(4), alike)
    assert_allclose(combine(text, walked, everyone(4), alike, started=walked), alone, atol=1e-6)
    stayed = combine(text, walked, everyone(4), alike, started=floats(1, 0, 0, 0))
    assert_allclose(stayed, combine(text, walked, everyone(4), alike))


def test_how_far_a_walk_travelled() -> None:
    assert walk_share_elsewhere(floats(0.5, 0.5), floats(1, 0)) == 0.5
    assert walk_share_elsewhere(floats(1, 0), floats(1, 0)) == 0.0
    assert walk_share_elsewhere(floats(0, 0.9), floats(1, 0)) == 1.0


def test_what_is_not_visible_neither_ranks_nor_sways() -> None:
    seen = np.asarray([True, True, True, False])
    text, alike = floats(1, 2, 3, 0), np.ones(4, np.float32)
    quiet = combine(text, floats(0.1, 0.2, 0.1, 0), seen, alike)
    loud = combine(floats(1, 2, 3, 99), floats(0.1, 0.2, 0.1, 0.6), seen, alike)
    assert quiet[3] == loud[3] == -np.inf
    assert_allclose(loud[:3], quiet[:3])


def test_the_walk_can_be_left_out() -> None:
    text, alike = floats(1, 2, 3), np.ones(3, np.float32)
    score = combine(text, floats(0.9, 0, 0), everyone(3), alike, ScoreParams(walk=0.0))
    assert np.argsort(-score).tolist() == [2, 1, 0]


@pytest.mark.timeout(300)  # waits for the compiler
@given(
    st.integers(0, 60),
    st.integers(0, 9999),
    st.sampled_from([0.0, 0.1, 0.9]),
    st.sampled_from([0.3, 1.0]),
)
def test_compiled_code_combines_alike(
    compiled: Path, n: int, seed: int, reached: float, seen: float
) -> None:
    """Wherever the walk came, also nowhere, and whoever is seen, also nobody."""
    rng = np.random.default_rng(seed)
    visible = rng.random(n) < seen
    text = np.where(visible, rng.normal(0, 3, n), -np.inf).astype(np.float32)
    walked = np.where(rng.random(n) < reached, rng.random(n) / max(n, 1), 0).astype(np.float32)
    plain = combined(text, walked, visible, 0.7)
    for found_kernels in (kernels, interpreted):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scoring, "kernels", found_kernels)
            score = combine(text, walked, visible, params=ScoreParams(walk=0.7))
        assert_allclose(score, plain, atol=1e-4)
