"""Which lines of a text count as known, by their scores and by those of the lines around."""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.language.kinds.known_lines import known_lines
from soulmem.language.kinds.line_kinds import KINDS


def places(
    lasting: list[float], filler: tuple[int, ...] = (), *, by_words: bool = False
) -> list[int]:
    """The places of the known lines of a text: scores of `lasting` by line, and the places of lines of filler."""
    scores = np.zeros((len(lasting), len(KINDS)), np.float32)
    scores[:, KINDS.index("lasting")] = lasting
    scores[list(filler), KINDS.index("filler")] = 1.0
    vectors = np.ones((len(lasting), 8), np.float32)
    return [line.place for line in known_lines(vectors, scores, by_words=by_words)]


@pytest.mark.parametrize(
    ("lasting", "known"),
    [
        ([0.85, 0.85, 0.85], [1]),  # nearest to both others
        ([0.9, 0.1, 0.1], []),
        ([0.9, 0.9], []),
        ([1.0], [0]),
        ([0.9], []),
    ],
)
def test_lines_around_that_last_speak_for_a_line(lasting: list[float], known: list[int]) -> None:
    assert places(lasting) == known


def test_a_line_that_says_nothing_is_no_neighbour() -> None:
    assert places([0.85, 0.85, 0.85, 0.85], filler=(1,)) == [2]
    assert places([1.0, 0.0], filler=(1,)) == [0]


def test_by_words_more_is_asked() -> None:
    assert places([1.0, 1.0, 1.0]) == [0, 1, 2]
    assert places([1.0, 1.0, 1.0], by_words=True) == []
