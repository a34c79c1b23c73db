"""The decision: two logistic models, and the file with their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.retrieval.decision_model import (
    LINE_FEATURES,
    MEMORY_FEATURES,
    Logistic,
    fitted,
    line_features,
    probability,
)
from soulmem.retrieval.restraint import least_probability

SCALES = ("tokens", "words")
# More of these never makes a memory less likely.
RISING = ("fit", "evidence")


@pytest.mark.parametrize("scale", SCALES)
def test_the_file_has_numbers_for_each_feature_and_the_figures_they_reached(
    scale: str,
) -> None:
    numbers = fitted().models[scale]
    assert numbers.memory.features == MEMORY_FEATURES
    assert numbers.line.features == LINE_FEATURES
    for model in (numbers.memory, numbers.line):
        assert len(model.weight) == len(model.center) == len(model.scale)
        assert len(model.weight) == len(model.features)
        assert all(scale > 0 for scale in model.scale)
    assert 0.0 < numbers.asked < numbers.least < 1.0  # a question is answered sooner
    shown = fitted().figures[scale]
    assert {"asked_any", "young_asked_any", "calm_silent"} <= set(shown)
    assert all(0.0 <= shown[name] <= 1.0 for name in shown if "items" not in name)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("feature", RISING)
def test_what_fits_better_is_never_less_likely(scale: str, feature: str) -> None:
    model = fitted().models[scale].memory
    assert model.weight[MEMORY_FEATURES.index(feature)] > 0


def test_log_odds_are_the_bias_and_the_share_of_each_feature() -> None:
    model = Logistic(("a", "b"), (1.0, 0.0), (2.0, 1.0), (3.0, -1.0), 0.5)
    rows = np.asarray([[1.0, 0.0], [3.0, 2.0], [1e9, 0.0]])
    assert model.shares(rows)[1].tolist() == [3.0, -2.0]
    assert model.log_odds(rows).tolist() == [0.5, 1.5, 30.0]
    assert probability(np.asarray([0.0])).tolist() == [0.5]


def test_a_line_has_the_features_of_its_memories() -> None:
    memory = np.zeros((3, len(MEMORY_FEATURES)))
    memory[:, MEMORY_FEATURES.index("fit")] = (4.0, 1.0, 3.0)
    memory[:, MEMORY_FEATURES.index("evidence")] = (0.5, 2.0, 0.0)
    memory[:, MEMORY_FEATURES.index("size")] = 5.0
    found = line_features(memory, np.asarray([1.0, -1.0, 0.0]), 0.25)
    of_line = dict(zip(LINE_FEATURES, found.tolist(), strict=True))
    assert of_line["best"] == 1.0
    assert of_line["several"] == pytest.approx(0.0)
    assert of_line["lead"] == 3.0
    assert of_line["evidence"] == 2.0
    assert of_line["known"] == 0.25
    assert of_line["size"] == 5.0


@given(st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_the_least_probability_rises_with_restraint(first: float, second: float) -> None:
    numbers = fitted().models["tokens"]
    low, high = sorted((first, second))
    assert 0.0 <= least_probability(low, numbers.least) <= least_probability(high, numbers.least)
    assert least_probability(high, numbers.least) <= 0.9


def test_without_restraint_everything_is_likely_enough() -> None:
    numbers = fitted().models["tokens"]
    assert least_probability(0.0, numbers.least) == 0.0
    assert least_probability(1.0, numbers.least) == numbers.least
    assert least_probability(1.0, numbers.least, 0.5) == numbers.least / 2
