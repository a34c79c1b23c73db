"""Are windows that are continued row by row those of all rows at once?"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulmem.graph.windows import Windows


@st.composite
def partitions(draw: st.DrawFn) -> list[int]:
    """The window of each row: that of another row, or its own."""
    count = draw(st.integers(0, 30))
    heads = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    own = [row for row, is_head in enumerate(heads) if is_head]
    return [
        row if is_head or not own else draw(st.sampled_from(own))
        for row, is_head in enumerate(heads)
    ]


@given(partitions(), st.integers(0, 30))
def test_continued_windows_are_those_of_all_rows(of: list[int], known: int) -> None:
    known = min(known, len(of))
    old = np.asarray(of[:known], np.int32)
    # Old rows are in windows of old rows; the rest follows.
    old = np.where(old < known, old, np.arange(known, dtype=np.int32))
    every = np.append(old, np.asarray(of[known:], np.int32))
    expected = Windows.by(every)
    found = Windows.by(old).continued(every[known:])
    for name in ("of", "starts", "members"):
        mine, plain = getattr(found, name), getattr(expected, name)
        assert mine.dtype == plain.dtype == np.int32
        assert mine.tolist() == plain.tolist()
