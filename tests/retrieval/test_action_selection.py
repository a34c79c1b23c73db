"""Selected actions: which, how often, and over which path."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.retrieval.action_selection import (
    ActionSelectionParams,
    Tendency,
    TriggerPath,
    draw_action,
    draw_number,
    select_actions,
    situation_attention,
)

FITS = st.lists(st.floats(-5, 12), min_size=1, max_size=30)
SCENE, CLASS, TRIGGER, OTHER_TRIGGER, ACTION, OTHER_ACTION = range(6)
SURE = {TRIGGER: [Tendency(ACTION, 1.0, 1.0)]}
NO_DRAW = {TRIGGER: 0.0, OTHER_TRIGGER: 0.0}


def row(*fits: float) -> NDArray[np.float64]:
    """One line's fits."""
    return np.asarray([fits], np.float64)


@given(FITS)
def test_attention_is_shared_and_some_is_left_for_nothing(fits: list[float]) -> None:
    """Shares are not negative, sum below 1, and follow the fits."""
    shares = situation_attention(row(*fits))
    assert (shares >= 0).all()
    assert shares.sum() < 1 + 1e-9
    order = np.argsort(fits, kind="stable")
    assert (np.diff(shares[order]) >= -1e-12).all()


def test_a_lone_situation_gets_half_where_it_is_as_present_as_not() -> None:
    """And nearly all or nothing two deviations beside."""
    p = ActionSelectionParams()
    assert_allclose(situation_attention(row(p.present)), [0.5])
    assert situation_attention(row(p.present + 2))[0] > 0.98
    assert situation_attention(row(p.present - 2))[0] < 0.02


def test_other_situations_that_do_not_fit_take_nothing() -> None:
    """One of forty that fits gets what it would alone, but for the price of so many."""
    alone = situation_attention(row(7.0))[0]
    assert situation_attention(row(7.0, *[0.0] * 39))[0] == pytest.approx(alone, abs=0.01)


def test_two_situations_that_fit_share() -> None:
    """Both at once is no reason for neither."""
    assert_allclose(situation_attention(row(9.0, 9.0)), [0.5, 0.5], atol=1e-3)


def test_more_situations_and_more_lines_must_say_it_louder() -> None:
    """So the number of false alarms does not grow with either."""
    fit = ActionSelectionParams().present
    assert situation_attention(row(fit, *[-9.0] * 199))[0] == pytest.approx(
        1 / 11, abs=1e-3
    )  # ten times 20 situations
    lines = np.asarray([[fit], *[[-9.0]] * 4])
    assert situation_attention(lines)[0] == pytest.approx(1 / 6, abs=1e-3)
    assert situation_attention(row(fit, *[-9.0] * 19))[0] == pytest.approx(0.5, abs=1e-3)


def test_the_best_line_counts_and_what_is_unknown_does_not() -> None:
    """NaN is no fit; without lines or situations there is nothing."""
    lines = np.asarray([[8.0, np.nan], [-2.0, np.nan]])
    shares = situation_attention(lines)
    assert shares[0] > 0.9
    assert shares[1] == 0.0
    assert situation_attention(np.zeros((0, 2))).tolist() == [0.0, 0.0]
    assert situation_attention(np.zeros((2, 0))).size == 0


def test_an_action_fires_from_the_threshold_on() -> None:
    """Attention times the geometric mean of the strengths on the way."""
    paths = [TriggerPath(SCENE, TRIGGER, 0.25)]
    for share, fires in ((0.41, True), (0.39, False)):
        selected = select_actions({SCENE: share}, {}, paths, SURE, NO_DRAW)
        assert bool(selected) is fires
    (impulse,) = select_actions({SCENE: 0.8}, {}, paths, SURE, NO_DRAW)
    assert impulse.share == pytest.approx(0.4)
    assert (impulse.action, impulse.trigger, impulse.path) == (
        ACTION,
        TRIGGER,
        paths[0],
    )


def test_a_full_strength_way_fires_sooner_than_one_that_is_made_by_default() -> None:
    """What one concrete episode triggers starts at 1, a reflex at 0.5."""
    paths = [TriggerPath(SCENE, TRIGGER, 0.5)]
    strong, usual = ({TRIGGER: [Tendency(ACTION, 1.0, strength)]} for strength in (1.0, 0.5))
    assert select_actions({SCENE: 0.3}, {}, paths, strong, NO_DRAW)
    assert not select_actions({SCENE: 0.3}, {}, paths, usual, NO_DRAW)


def test_what_several_triggers_give_an_action_adds_up() -> None:
    """Two that would not do alone; and two situations of one trigger."""
    paths = [TriggerPath(SCENE, TRIGGER, 1.0), TriggerPath(CLASS, OTHER_TRIGGER, 1.0)]
    joint = {
        TRIGGER: [Tendency(ACTION, 1.0, 1.0)],
        OTHER_TRIGGER: [Tendency(ACTION, 1.0, 1.0)],
    }
    (impulse,) = select_actions({SCENE: 0.15, CLASS: 0.12}, {}, paths, joint, NO_DRAW)
    assert impulse.share == pytest.approx(0.27)
    assert impulse.trigger == TRIGGER
    first = [TriggerPath(SCENE, TRIGGER, 1.0), TriggerPath(CLASS, TRIGGER, 1.0)]
    (impulse,) = select_actions({SCENE: 0.15, CLASS: 0.16}, {}, first, SURE, NO_DRAW)
    assert impulse.share == pytest.approx(0.31)
    assert impulse.path == first[1]


def test_the_best_of_a_situations_ways_to_a_trigger_counts_once() -> None:
    """An instance is its class; a class is one of its instances with half its attention."""
    up = TriggerPath(SCENE, TRIGGER, 1.0, 1.0, CLASS)
    straight = TriggerPath(SCENE, TRIGGER, 0.3)
    (impulse,) = select_actions({SCENE: 0.9}, {}, [straight, up], SURE, NO_DRAW)
    assert impulse.share == pytest.approx(0.9)
    assert impulse.path == up
    down = TriggerPath(CLASS, TRIGGER, 1.0, 0.5, SCENE)
    (impulse,) = select_actions({CLASS: 0.9}, {}, [down], SURE, NO_DRAW)
    assert impulse.share == pytest.approx(0.45)


def test_an_intent_fires_a_trigger_that_it_names() -> None:
    """Without any situation; the way is then unknown."""
    (impulse,) = select_actions({}, {TRIGGER: 0.9}, [], SURE, NO_DRAW)
    assert impulse.action == ACTION
    assert impulse.path is None


def test_exactly_one_action_of_a_trigger_fires() -> None:
    """Whatever the draw; one without a probability never."""
    three = {
        TRIGGER: [
            Tendency(ACTION, 0.4, 0.5),
            Tendency(9, 0.0, 1.0),
            Tendency(OTHER_ACTION, 0.6, 0.5),
        ]
    }
    for draw, action in (
        (0.0, ACTION),
        (0.39, ACTION),
        (0.41, OTHER_ACTION),
        (1.0 - 1e-12, OTHER_ACTION),
    ):
        selected = select_actions(
            {SCENE: 0.9}, {}, [TriggerPath(SCENE, TRIGGER, 0.5)], three, {TRIGGER: draw}
        )
        assert [impulse.action for impulse in selected] == [action]
    nothing = {TRIGGER: [Tendency(ACTION, 0.0, 1.0)]}
    assert (
        select_actions({SCENE: 0.9}, {}, [TriggerPath(SCENE, TRIGGER, 1.0)], nothing, NO_DRAW) == []
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1, exclude_max=True))
def test_a_choice_is_one_that_can_be(probabilities: list[float], number: float) -> None:
    """None only when none can."""
    selected = draw_action(list(enumerate(probabilities)), number)
    if sum(probabilities) <= 0.0:
        assert selected is None
    else:
        assert selected is not None
        assert probabilities[selected] > 0


@pytest.mark.parametrize("probabilities", [(0.8, 0.2), (0.4, 0.3, 0.3), (1.0, 1.0)])
def test_draws_follow_the_probabilities(probabilities: tuple[float, ...]) -> None:
    """2,000 swipes: total variation at most 0.03."""
    actions = list(enumerate(probabilities))
    drawn = [
        draw_action(actions, draw_number("c1", f"m{i // 4}", str(i % 4), "t1")) for i in range(2000)
    ]
    count, whole = Counter(drawn), sum(probabilities)
    assert sum(abs(count[a] / 2000 - p / whole) for a, p in actions) / 2 <= 0.03


def test_a_draw_is_the_same_on_every_machine() -> None:
    """It depends on its names alone, and on where one ends."""
    assert draw_number("c1", "m1", "0", "t1") == 0.5578603099550188
    assert draw_number("c1", "m1", "0", "t2") != draw_number("c1", "m1", "1", "t1")
    assert draw_number("ab", "c") != draw_number("a", "bc")
    assert all(0 <= draw_number(str(i)) < 1 for i in range(100))
