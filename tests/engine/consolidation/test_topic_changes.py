"""Where the topic of a chat changes, by the vectors of its exchanges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.consolidation.plan import FEWEST, topic_changes


def chat(*lengths: int, noise: float = 0.15, seed: int = 3) -> NDArray[np.float64]:
    """Exchanges of topics that have so many each."""
    rng = np.random.default_rng(seed)
    topics = np.linalg.qr(rng.normal(size=(16, len(lengths))))[0].T
    vectors = np.repeat(topics, lengths, axis=0)
    return vectors + noise * rng.normal(size=vectors.shape) / 4.0


def test_the_topic_changes_where_the_likeness_falls() -> None:
    changes = np.flatnonzero(topic_changes(chat(6, 5, 7))).tolist()
    assert changes == [6, 11]


def test_one_topic_is_hardly_cut() -> None:
    cuts = [topic_changes(chat(20, seed=seed)).sum() for seed in range(10)]
    assert np.mean(cuts) < 4
    assert topic_changes(np.ones((20, 3))).sum() == 0


def test_neither_the_first_nor_the_last_exchange_nor_a_short_chat_tells() -> None:
    assert not topic_changes(chat(9, 1))[-1]
    assert not topic_changes(chat(1, 9))[0]
    few = FEWEST
    assert not topic_changes(chat(few // 2, few - few // 2)).any()


def test_exchanges_without_vectors_tell_nothing() -> None:
    assert not topic_changes(np.full((12, 4), np.nan)).any()
    assert not topic_changes(np.zeros((0, 4))).any()
