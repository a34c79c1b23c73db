"""The roulette draws by weight, and the moments of pushes keep their distance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.soul import Push
from soulmem.engine.recall.pushes import GAPS, drawn, first_moment


def test_each_is_drawn_by_its_share_of_the_weights() -> None:
    weights = np.array([3.0, 0.0, 1.0, 0.0])
    numbers = np.random.default_rng(1).random(40_000)
    counts = np.bincount(drawn(weights, numbers), minlength=4)
    assert counts[1] == counts[3] == 0
    assert counts[0] / numbers.size == pytest.approx(0.75, abs=0.01)
    assert drawn(weights, np.array([0.0, 0.7499, 0.75, 1.0])).tolist() == [0, 0, 2, 2]


@given(story=st.text(max_size=5), push=st.sampled_from([Push.RARE, Push.OFTEN]))
def test_any_two_moments_of_different_spans_keep_the_gap(story: str, push: Push) -> None:
    gap = GAPS[push]
    spans: dict[int, list[int]] = {}
    for exchange in range(400):
        first = first_moment(story, exchange, gap)
        if first is not None:
            spans.setdefault(first, []).append(exchange)
    assert len(spans) >= 400 // (2 * gap)
    ordered = sorted(spans.values())
    for earlier, later in pairwise(ordered):
        assert later[0] - earlier[-1] >= gap
    assert all(span[0] == first for first, span in spans.items())
