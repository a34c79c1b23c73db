"""Edges grow with use and weaken without, within 0..1."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.plasticity import (
    FLOOR,
    PlasticityParams,
    depressed,
    plasticity_update,
    potentiated,
)
from soulmem.domain.forgetting_curve import LONGEST, stability_after

PARAMS = PlasticityParams()
shares = st.floats(0.0, 1.0)
flows = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.0, 1e3), max_size=8)


@given(strength=shares, share=shares)
def test_a_use_strengthens_within_bounds(strength: float, share: float) -> None:
    """Never weaker, never above 1, the more the larger the share."""
    stronger = potentiated(strength, share, PARAMS)
    assert strength <= stronger <= 1.0
    assert stronger <= potentiated(strength, 1.0, PARAMS)


def test_a_use_is_the_formula() -> None:
    """s + eta * (1 - s) * share."""
    assert potentiated(0.3, 0.5, PlasticityParams(eta=0.2)) == pytest.approx(0.3 + 0.2 * 0.7 * 0.5)


def test_twenty_co_recalls_raise_an_edge_clearly() -> None:
    """Also where the edge only joins what came by other paths."""
    for share, least in ((1.0, 0.85), (PARAMS.together, 0.6)):
        strength = 0.1
        for _ in range(20):
            strength = potentiated(strength, share, PARAMS)
        assert strength > least


@given(strength=shares)
def test_an_idle_turn_weakens_within_bounds(strength: float) -> None:
    """By the part eta_d."""
    assert depressed(strength, keep=False, params=PARAMS) == pytest.approx(
        strength * (1 - PARAMS.eta_d)
    )
    assert depressed(strength, keep=False, params=PARAMS) >= 0.0


@given(strength=shares)
def test_what_was_of_use_is_never_lost_by_being_passed_over(strength: float) -> None:
    """However often: it comes down to the floor and stays, and what lies under it rises by nothing."""
    kept = strength
    for _ in range(400):
        kept = depressed(kept, keep=True, params=PARAMS)
    assert kept == pytest.approx(min(strength, FLOOR))


def test_what_never_helps_is_cut_in_the_end() -> None:
    """From 0.5 after 75 times, as the parameters say."""
    strength, times = 0.5, 0
    while strength >= FLOOR:
        strength, times = depressed(strength, keep=False, params=PARAMS), times + 1
    assert 70 <= times <= 80


def test_help_every_third_time_is_enough_to_live() -> None:
    """The strength settles well above the floor, wherever it began."""
    for strength in (FLOOR, 1.0):
        for _ in range(300):
            strength = potentiated(strength, 1.0, PARAMS)
            strength = depressed(
                depressed(strength, keep=False, params=PARAMS),
                keep=False,
                params=PARAMS,
            )
        assert 0.55 < strength < 0.65


def test_spaced_uses_make_an_edge_last() -> None:
    """S * 1.8 from ten turns on, else unchanged; it stays a number for ever."""
    assert stability_after(300.0, 10.0) == pytest.approx(540.0)
    assert stability_after(300.0, 9.9) == 300.0
    assert stability_after(300.0, -5.0) == 300.0
    stability = 300.0
    for _ in range(2000):
        stability = stability_after(stability, 50.0)
    assert stability == LONGEST
    assert stability_after(2 * LONGEST, 50.0) == 2 * LONGEST


@given(paths=flows, together=st.frozensets(st.sampled_from("abcdefgh")), walked=flows)
def test_a_lesson_is_for_edges_that_are_used_or_idle_but_not_both(
    paths: dict[str, float], together: frozenset[str], walked: dict[str, float]
) -> None:
    """Shares are in 0..1; all of a path and between two memories is used; only walked edges are idle."""
    taught = plasticity_update(paths, together, walked, PARAMS)
    assert set(taught.used) == {*paths, *together}
    assert all(0.0 <= share <= 1.0 for share in taught.used.values())
    assert taught.idle <= walked.keys() - taught.used.keys()


@given(
    paths=flows,
    together=st.frozensets(st.sampled_from("abcd")),
    walked=flows,
    order=st.randoms(),
)
def test_the_order_of_a_lesson_does_not_matter(
    paths: dict[str, float],
    together: frozenset[str],
    walked: dict[str, float],
    order: Random,
) -> None:
    def shuffled(flow: dict[str, float]) -> dict[str, float]:
        items = list(flow.items())
        order.shuffle(items)
        return dict(items)

    again = plasticity_update(
        shuffled(paths), sorted(together, reverse=True), shuffled(walked), PARAMS
    )
    assert again == plasticity_update(paths, together, walked, PARAMS)


def test_shares_are_parts_of_the_strongest_flow() -> None:
    """However many memories came; without any flow known all paths count alike."""
    taught = plasticity_update({"a": 0.4, "b": 0.1}, ["b", "c"], {}, PARAMS)
    assert taught.used == pytest.approx({"a": 1.0, "b": 0.5, "c": 0.5})
    assert plasticity_update({"a": 0.0, "b": 0.0}, [], {}, PARAMS).used == {
        "a": 1.0,
        "b": 1.0,
    }


def test_only_what_was_walked_strongly_counts_as_offered() -> None:
    """Against the strongest used edge; with none of use, against the strongest of all."""
    walked = {"a": 0.4, "b": 0.2, "c": 0.05, "d": 0.03, "e": 0.0}
    for order in permutations(walked):
        taught = plasticity_update({"a": 0.4}, [], {key: walked[key] for key in order}, PARAMS)
        assert taught.idle == {"b", "c"}
    assert plasticity_update({}, [], walked, PARAMS).idle == {"a", "b", "c"}
    assert plasticity_update({}, ["a"], {"a": 1.0, "b": 0.09, "c": 0.0}, PARAMS).idle == frozenset()
    assert plasticity_update({}, [], {"a": 0.0}, PARAMS).idle == frozenset()
