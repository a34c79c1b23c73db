"""Habits need three scenes; wordings of one habit are grouped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.engine.consolidation.draft_habits import (
    HabitParams,
    count_scenes,
    word_overlap,
    wording_groups,
)

PARAMS = HabitParams(scenes=3, apart=4, company=0.5)


@pytest.mark.parametrize(
    ("places", "count"),
    [
        ([], 0),
        ([("c", 4)], 1),
        ([("c", 4), ("c", 5), ("c", 7)], 1),
        ([("c", 4), ("c", 8)], 2),
        ([("c", 16), ("c", 4), ("c", 10)], 3),
        ([("c", 4), ("d", 4), ("e", 5)], 3),
        (
            [("c", position) for position in range(0, 40, 2)],
            1,
        ),  # it goes on and on: one scene
    ],
)
def test_messages_near_each_other_are_one_scene(places: list[tuple[str, int]], count: int) -> None:
    assert count_scenes(places, PARAMS) == count


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60))))
def test_there_are_no_more_scenes_than_there_is_room_for(
    places: list[tuple[str, int]],
) -> None:
    for chat in "ab":
        mine = [position for where, position in places if where == chat]
        room = 1 + (max(mine) - min(mine)) // PARAMS.apart if mine else 0
        assert count_scenes([(chat, position) for position in mine], PARAMS) <= room
    assert count_scenes(places, PARAMS) == sum(
        count_scenes([p for p in places if p[0] == c], PARAMS) for c in "ab"
    )


def test_two_wordings_share_their_words() -> None:
    overlap = [["pulls", "her", "hood"], ["hood", "pulls"], ["sings"], []]
    assert word_overlap(overlap) == pytest.approx(
        np.asarray([[1, 2 / 3, 0, 0], [2 / 3, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], np.float32)
    )


def alike(count: int, *pairs: tuple[int, int]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which of so many wordings are alike."""
    out = np.eye(count, dtype=np.bool_)
    for group, other in pairs:
        out[group, other] = out[other, group] = True
    return out


def test_what_is_alike_is_one_habit_and_a_chain_is_not() -> None:
    assert wording_groups(alike(0), PARAMS) == []
    assert wording_groups(alike(4, (0, 2), (1, 3)), PARAMS) == [[0, 2], [1, 3]]
    assert wording_groups(alike(5, (0, 1), (1, 2), (2, 3), (3, 4)), PARAMS) == [
        [0, 1, 2],
        [3, 4],
    ]


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11))))
def test_every_wording_is_of_one_habit_and_like_half_of_what_was_before(
    count: int, pairs: list[tuple[int, int]]
) -> None:
    matrix = alike(count, *((item % count, other % count) for item, other in pairs))
    groups = wording_groups(matrix, PARAMS)
    assert sorted(position for group in groups for position in group) == list(range(count))
    for group in groups:
        for place, position in enumerate(group[1:], 1):
            assert matrix[position, group[:place]].mean() >= PARAMS.company
