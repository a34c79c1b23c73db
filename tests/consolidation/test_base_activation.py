"""Base activation depends on the times of mentions and recalls alone."""

from __future__ import annotations

from math import exp
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.base_activation import (
    FORGOTTEN,
    MENTION_GAIN,
    STABILITY,
    ActivationEvent,
    base_activation,
    base_activations,
    mention_event,
    recall_event,
)

moments = st.lists(st.builds(ActivationEvent, st.floats(0, 5000), st.floats(0, 1)), max_size=20)
DAY = 20.0


@given(moments, st.floats(5000, 20_000), st.integers(1, 30))
def test_one_month_is_thirty_days_however_often_it_is_read(
    met: list[ActivationEvent], current_turn: float, steps: int
) -> None:
    start = base_activation(met, current_turn)
    whole = base_activation(met, current_turn + steps * DAY)
    assert whole == pytest.approx(start * exp(-steps * DAY / STABILITY), abs=1e-9)
    by_day = start
    for day in range(1, steps + 1):
        by_day *= exp(-DAY / STABILITY)
        assert base_activation(met, current_turn + day * DAY) == pytest.approx(by_day, abs=1e-9)


@given(moments, st.floats(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_in_which_things_became_known_does_not_matter(
    met: list[ActivationEvent], current_turn: float, rng: object
) -> None:
    shuffled = sorted(met, key=lambda _: rng.random())  # type: ignore[attr-defined]
    assert base_activation(shuffled, current_turn) == pytest.approx(
        base_activation(met, current_turn), abs=1e-12
    )


@given(moments, st.floats(0, 10_000), st.floats(0, 2))
def test_it_stays_between_nothing_and_all(
    met: list[ActivationEvent], current_turn: float, pace: float
) -> None:
    assert 0.0 <= base_activation(met, current_turn, pace) <= 1.0


@given(moments, st.floats(0, 5000), st.floats(0.01, 1))
def test_a_mention_or_a_recall_more_raises_it(
    met: list[ActivationEvent], current_turn: float, salience: float
) -> None:
    before = base_activation(met, current_turn)
    for more in (mention_event(current_turn, salience), recall_event(current_turn)):
        assert base_activation([*met, more], current_turn) >= before
        if before < 0.99:
            assert base_activation([*met, more], current_turn) > before


def test_what_a_text_is_about_starts_above_a_passing_word() -> None:
    assert base_activation([mention_event(0, 0.9)], 0) == pytest.approx(0.9 * MENTION_GAIN)
    assert base_activation([mention_event(0, 0.9)], 0) > base_activation([mention_event(0, 0.2)], 0)
    assert base_activation([], 100) == 0.0


def test_what_is_met_daily_stays_and_what_was_met_once_is_gone_in_a_month() -> None:
    daily = [mention_event(day * DAY, 0.5) for day in range(90)]
    assert all(base_activation(daily[: day + 1], day * DAY) > FORGOTTEN for day in range(90))
    once = [
        mention_event(0, 1.0),
        mention_event(1, 1.0),
    ]  # a name is learned when two messages give it
    assert base_activation(once, 30 * DAY) < FORGOTTEN
    assert base_activation(once, 30 * DAY, pace=0.5) > FORGOTTEN


def test_at_dial_0_nothing_fades() -> None:
    met = [mention_event(0, 0.6), recall_event(40)]
    assert base_activation(met, 1e9, pace=0.0) == base_activation(met, 40, pace=0.0)


def test_a_clock_set_back_forgets_nothing_and_gains_nothing() -> None:
    assert base_activation([mention_event(500, 0.6)], 100) == pytest.approx(
        base_activation([mention_event(100, 0.6)], 100)
    )


@given(
    st.lists(moments, max_size=6),
    st.floats(0, 6000),
    st.floats(0, 2),
    st.randoms(use_true_random=False),
)
def test_many_at_once_are_as_each_alone(
    concepts: list[list[ActivationEvent]], current_turn: float, pace: float, rng: Random
) -> None:
    rows = [(turn, event.turn, event.gain) for turn, met in enumerate(concepts) for event in met]
    rng.shuffle(rows)
    whose, when, gain = np.asarray(rows, np.float64).reshape(-1, 3).T
    activations = base_activations(whose.astype(np.int64), when, gain, current_turn, pace)
    alone = [base_activation(met, current_turn, pace) for met in concepts]
    np.testing.assert_allclose(
        np.append(activations, np.zeros(len(concepts) - activations.size)),
        alone,
        atol=1e-9,
    )
