"""The six weight factors, and shares that a soul sets itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from soulmem.kernels.arrays import Float64s
from soulmem.retrieval.weights import MemoryFactors, WeightParams, memory_weight


def each(*values: float) -> Float64s:
    return np.asarray(values, np.float64)


FRESH = MemoryFactors(each(0.4), each(0), each(1), each(0), each(np.inf), each(0), each(0.5))


def one(params: WeightParams | None = None, **other: float) -> float:
    changed = {name: each(value) for name, value in other.items()}
    return float(memory_weight(replace(FRESH, **changed), params)[0])


def test_the_weight_of_a_new_memory_is_what_the_design_says() -> None:
    assert one() == pytest.approx(0.3 * 0.4 + 0.2 * 1 + 0.1 * 0 + 0.2 * 1 + 0.1 * 0 + 0.1 * 0.5)


@pytest.mark.parametrize(
    ("name", "less", "more", "gain"),
    [
        ("importance", 0.2, 0.9, 0.3 * 0.7),
        ("feeling", 0.0, 0.5, 0.3 * 0.6 * 0.5),  # half of what importance leaves open
        ("retention", 0.1, 0.6, 0.2 * 0.5),
        ("uses", 0.0, 5.0, 0.1 * (1 - np.exp(-1))),
        ("since_use", 0.0, np.inf, 0.2),
        ("content", 0.0, 1.0, 0.1),
        ("feedback", 0.0, 1.0, 0.1),
    ],
)
def test_each_factor_adds_its_share(name: str, less: float, more: float, gain: float) -> None:
    assert one(None, **{name: more}) - one(None, **{name: less}) == pytest.approx(gain, abs=1e-6)


def test_what_was_just_used_can_wait() -> None:
    waits = [one(since_use=exchanges) for exchanges in (0, 1, 5, 20)]
    assert waits == sorted(waits)
    assert one(since_use=5) - one(since_use=0) == pytest.approx(0.2 * (1 - np.exp(-1)), abs=1e-6)


def test_a_soul_sets_its_own_shares() -> None:
    own = WeightParams().of_soul({"importance": 1.0, "nonsense": 9, "pace": 0.0})
    assert one(own) == pytest.approx(0.4)  # what is not named has no share
    assert own.pace == WeightParams().pace
    assert WeightParams().of_soul({}) == WeightParams()


def test_without_any_share_all_weigh_alike() -> None:
    nothing = WeightParams(0, 0, 0, 0, 0, 0)
    assert memory_weight(replace(FRESH, importance=each(0.9)), nothing).tolist() == [0.5]


def test_weights_stay_within_bounds() -> None:
    best = MemoryFactors(
        each(1, 0),
        each(1, 0),
        each(1, 0),
        each(1e9, 0),
        each(np.inf, 0),
        each(1, 0),
        each(1, 0),
    )
    assert_allclose(memory_weight(best), [1, 0], atol=1e-6)
