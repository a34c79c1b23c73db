"""What was seen once or twice is no habit, however often it is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.habits import HabitParams, is_same, scenes

PARAMS = HabitParams(scenes=3, apart=6, alike=0.5)


@pytest.mark.parametrize(
    ("places", "count"),
    [
        ([], 0),
        ([("c", 4)], 1),
        ([("c", 4), ("c", 5), ("c", 9)], 1),
        ([("c", 4), ("c", 10)], 2),
        ([("c", 16), ("c", 4), ("c", 10)], 3),
        ([("c", 4), ("d", 4), ("e", 5)], 3),
    ],
)
def test_messages_near_each_other_are_one_scene(places: list[tuple[str, int]], count: int) -> None:
    assert scenes(places, PARAMS) == count


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60))))
def test_more_messages_are_no_fewer_scenes_than_there_is_room_for(places: list[tuple[str, int]]) -> None:
    for chat in "ab":
        mine = [at for where, at in places if where == chat]
        room = 1 + (max(mine) - min(mine)) // PARAMS.apart if mine else 0
        assert scenes([(chat, at) for at in mine], PARAMS) <= room
    assert scenes(places, PARAMS) == sum(scenes([p for p in places if p[0] == c], PARAMS) for c in "ab")


def test_two_wordings_of_one_habit_share_most_words() -> None:
    assert is_same(["pulls", "her", "hood", "up"], ["pulls", "up", "her", "hood"], PARAMS)
    assert is_same(["hides", "her", "face"], ["hides", "face"], PARAMS)
    assert not is_same(["hides", "her", "face"], ["sings", "her", "song"], PARAMS)
    assert not is_same([], [], PARAMS)
