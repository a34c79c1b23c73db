"""Are the best rows those that a full sort puts in front?"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulmem.retrieval.best import best_rows

scores = st.lists(st.sampled_from([0.0, 1.0, 2.5, -3.0, np.inf, -np.inf, np.nan]) | st.floats(width=32))


@given(scores, st.integers(-1, 20))
def test_the_best_rows_are_the_first_of_a_sort(values: list[float], count: int) -> None:
    score = np.asarray(values, np.float32)
    finite = [row for row in range(score.size) if np.isfinite(score[row])]
    expected = sorted(finite, key=lambda row: (-score[row], row))[: max(count, 0)]
    assert best_rows(score, count).tolist() == expected
