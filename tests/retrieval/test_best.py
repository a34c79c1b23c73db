"""The best rows are the first of a full sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulmem.retrieval.best import best_rows

scores = st.lists(
    st.sampled_from([0.0, 1.0, 2.5, -3.0, np.inf, -np.inf, np.nan]) | st.floats(width=32)
)


@given(scores, st.integers(-1, 20))
def test_the_best_rows_are_the_first_of_a_sort(values: list[float], count: int) -> None:
    score = np.asarray(values, np.float32)
    finite = [row for row in range(score.size) if np.isfinite(score[row])]
    expected = sorted(finite, key=lambda row: (-score[row], row))[: max(count, 0)]
    assert best_rows(score, count).tolist() == expected


@given(
    st.integers(500, 5000),
    st.integers(0, 300),
    st.integers(0, 9999),
    st.sampled_from(["normal", "few", "alike", "rising"]),
)
def test_of_thousands_too(n: int, count: int, seed: int, kind: str) -> None:
    """Whatever a sample of them looks like: most not finite, all alike, the best side by side."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n).astype(np.float32)
    if kind == "few":
        score[rng.random(n) < 0.99] = -np.inf
        score[rng.random(n) < 0.01] = np.inf
    elif kind == "alike":
        score = np.round(score)
    elif kind == "rising":
        score = np.where(np.arange(n) > n - 200, score + 9, score)
    finite = np.flatnonzero(np.isfinite(score))
    expected = finite[np.lexsort((finite, -score[finite]))][:count]
    assert best_rows(score, count).tolist() == expected.tolist()
