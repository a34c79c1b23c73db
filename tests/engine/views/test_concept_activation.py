"""Is a concept of a great many mentions as present by its latest as by all?"""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.consolidation.base_activation import MENTION_GAIN, base_activations
from soulmem.graph.latest_mentions import MANY, Mentions
from soulmem.graph.slot_lists import Chains


@pytest.mark.parametrize("at_one_moment", [False, True])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "span", [100.0, 5_000.0, 100_000.0], ids=["at once", "a while", "a long life"]
)
def test_the_latest_mentions_tell_nearly_all(seed: int, span: float, at_one_moment: bool) -> None:
    """In no order of time: a chat from long ago may be imported late, and all of one in a moment."""
    rng = np.random.default_rng(seed)
    counts = rng.choice([1, 3, 60, 257, 900, 4000], 12)
    target = rng.permutation(np.repeat(np.arange(12), counts))
    turn = rng.uniform(0, span, target.size)
    touched = np.full(turn.size, 7) if at_one_moment else (turn * 1e6).astype(np.int64)

    def presence(target: np.ndarray, turn: np.ndarray) -> np.ndarray:
        return base_activations(target, turn, np.full(target.size, MENTION_GAIN / 2), span)

    arriving, kind = Chains(), np.zeros(target.size, np.uint8)
    arriving.add_all(target, np.arange(target.size, dtype=np.int32))
    kept = Mentions(0).of(np.arange(12), arriving, kind, target.astype(np.uint32), touched, turn)
    few, turns = target[kept], turn[kept]
    assert np.bincount(few).max() <= MANY
    full = presence(target, turn)
    assert np.abs(presence(few, turns) - full).max() < 0.0015
    assert (np.bincount(few)[counts <= MANY] == counts[counts <= MANY]).all()
