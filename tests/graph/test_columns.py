"""What is known of each row in one number?"""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from soulmem.graph.columns import Columns

FLAGS = ("active", "live", "everywhere", "opens_exchange", "permanent", "locked")


def test_growing_keeps_what_is_there_and_adds_empty_rows() -> None:
    """Values stay, new rows show nothing and belong to no family."""
    columns = Columns()
    columns.family[3], columns.tokens[3], columns.happened[3] = 7, 42, 1.5
    for name in FLAGS:
        getattr(columns, name)[3] = True
    columns.grow(1000)
    assert (columns.family[3], columns.tokens[3], columns.happened[3]) == (7, 42, 1.5)
    for name in FLAGS:
        column = getattr(columns, name)
        assert column.size >= 1000
        assert_array_equal(np.flatnonzero(column), [3])
    assert set(columns.family) == {7, -1}
    assert (
        columns.family.size == columns.tokens.size == columns.happened.size == columns.active.size
    )


def test_a_cleared_row_shows_nothing() -> None:
    """A row that is free is neither active nor of any family."""
    columns = Columns()
    columns.family[5] = 2
    for name in FLAGS:
        getattr(columns, name)[5] = True
    columns.clear(5)
    assert not any(getattr(columns, name)[5] for name in FLAGS)
    assert columns.family[5] == -1
