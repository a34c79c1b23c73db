"""Reserved slots: for associations and for kinds, and their places in the order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s
from soulmem.retrieval.association_paths import AssociationPaths
from soulmem.retrieval.reserved_slots import (
    ReservedSlots,
    association_slots,
    learned_slots,
    order_with_slots,
    with_learned_slots,
)

RARE, COMMON, NAMELESS = np.asarray([3]), np.asarray([300]), np.zeros(0, np.int64)


def floats(*values: float) -> Float32s:
    return np.asarray(values, np.float32)


def told(hops: list[int], flow: list[float], directness: float = 0.5) -> AssociationPaths:
    return AssociationPaths(
        np.asarray(hops, np.int8),
        np.full(len(hops), directness, np.float32),
        floats(*flow),
        np.flatnonzero(np.asarray(hops) > 0),
    )


def scene(n: int = 40) -> tuple[Float32s, list[int], list[float]]:
    """n memories that mention the query, best first; then three that only association leads to."""
    score = np.append(np.linspace(5, 1, n), [-1, -2, -3]).astype(np.float32)
    return score, [1] * n + [2, 3, 4], [0.01] * n + [0.001, 0.0005, 0.0002]


def test_what_only_association_reaches_gets_a_share_of_the_seats() -> None:
    score, hops, flow = scene()
    slots = association_slots(score, told(hops, flow), RARE, 10)
    assert slots.front == ()
    assert slots.behind == (40, 41, 42)
    assert association_slots(score, told(hops, flow), RARE, 4).behind == (40,)


def test_without_a_name_there_is_nothing_to_associate_with() -> None:
    score, hops, flow = scene()
    for names in (NAMELESS, np.asarray([0])):
        slots = association_slots(score, told(hops, flow), names, 10)
        assert slots.front == slots.behind == ()


def test_those_that_come_in_anyway_use_up_the_share() -> None:
    score, hops, flow = scene()
    hops[0] = hops[1] = 2
    assert association_slots(score, told(hops, flow), RARE, 10).behind == (40,)


def test_a_name_in_too_many_memories_gives_the_front_to_what_one_of_them_leads_to() -> None:
    score, hops, flow = scene()
    assert association_slots(score, told(hops, flow), COMMON, 10).front == (40, 41, 42)
    assert association_slots(score, told(hops, flow, directness=0.1), COMMON, 10).front == ()


def test_the_invisible_and_the_unreached_get_no_seat() -> None:
    score, hops, flow = scene()
    score[40], flow[41] = -np.inf, 0.0
    assert association_slots(score, told(hops, flow), RARE, 10).behind == (42,)


@given(
    st.lists(
        st.tuples(st.floats(-5, 5, width=32), st.integers(-1, 5), st.floats(0, 1, width=32)),
        max_size=30,
    ),
    st.integers(0, 12),
    st.sampled_from([RARE, COMMON, NAMELESS]),
)
def test_there_are_never_more_seats_than_places(
    rows: list[tuple[float, int, float]], max_items: int, names: NDArray[np.int64]
) -> None:
    score = floats(*(s for s, _, _ in rows))
    slots = association_slots(
        score, told([h for _, h, _ in rows], [f for _, _, f in rows]), names, max_items
    )
    reserved = slots.front + slots.behind
    assert len(set(reserved)) == len(reserved) <= max_items
    assert all(rows[row][1] >= 2 for row in reserved)


def test_the_best_by_score_stands_first_then_the_front_then_the_rest() -> None:
    score = floats(5, 4, 3, -1, -2)
    assert order_with_slots([4, 0, 2, 1, 3], score, (3, 4)) == [0, 3, 4, 1, 2]
    assert order_with_slots([4, 0, 2], score, (3, 4)) == [0, 4, 2]
    assert order_with_slots([1, 2], score, (1,)) == [1, 2]
    assert order_with_slots([], score, (1,)) == []


def test_associations_stand_in_their_own_order_and_end_every_ten() -> None:
    score = np.append(np.linspace(9, 5, 30), [1, 2, 3, 4]).astype(np.float32)
    short = order_with_slots([*range(8), 31, 30], score, (), (30, 31))
    assert short == [*range(8), 30, 31]
    long = order_with_slots(range(34), score, (), (30, 31, 32, 33))
    assert long[7:10] == [30, 31, 32]
    assert long.index(33) == 19
    assert sorted(long) == list(range(34))


def test_an_association_that_scores_better_stands_before_the_end() -> None:
    score = floats(9, 7, 5, 3, 6)
    assert order_with_slots([0, 1, 2, 3, 4], score, (), (4,)) == [0, 1, 4, 2, 3]
    assert order_with_slots([0, 1, 2, 3, 4], floats(1, 7, 5, 3, 9), (), (4,)) == [
        4,
        1,
        2,
        3,
        0,
    ]


def test_long_answers_keep_seats_for_later_tens_too() -> None:
    score, hops, flow = scene()
    assert association_slots(score, told([2] * 40 + hops[40:], flow), RARE, 20).behind == (
        10,
        11,
        12,
    )


def test_the_best_by_score_keeps_its_seat() -> None:
    score, hops, flow = scene()
    assert association_slots(score, told(hops, flow), COMMON, 3).front == (40, 41)
    assert association_slots(score, told(hops, flow), COMMON, 1).front == ()


def test_of_what_is_called_alike_first_comes_what_tells_something_else() -> None:
    """The first called repeats what is told, the third the second: the last is as strong and new."""
    selected = [[1.0, 0, 0, 0]]
    vectors = np.asarray(
        [*selected, [1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], np.float32
    )
    pull = np.asarray([1.0, 1.0, 1.0, 1.0])
    assert learned_slots(pull, vectors, 1, 3) == [1, 3, 0]
    assert learned_slots(pull, vectors[1:], 0, 2) == [0, 1]
    assert learned_slots(pull, np.full((5, 1), np.nan, np.float32), 1, 9) == [
        0,
        1,
        2,
        3,
    ]
    assert learned_slots(np.zeros(0), np.asarray(selected, np.float32), 1, 3) == []


def test_what_pulls_far_more_strongly_comes_first_however_alike() -> None:
    vectors = np.asarray([[1.0, 0], [1, 0], [0, 1]], np.float32)
    assert learned_slots(np.asarray([1.0, 0.4]), vectors, 1, 2) == [0, 1]


def test_learned_associations_stand_before_others_behind_each_once() -> None:
    slots = with_learned_slots(ReservedSlots((5, 1), (6, 3, 7)), [1, 2, 3, 4])
    assert slots == ReservedSlots((5, 1), (2, 3, 4, 6, 7))
    assert with_learned_slots(ReservedSlots((5,), (6,)), []) == ReservedSlots((5,), (6,))


def test_of_two_places_none_is_taken_from_the_texts() -> None:
    score = floats(3, 2, -1, -2, -3)
    paths = told([0, 0, 2, 2, 2], [0, 0, 1, 1, 1])

    assert association_slots(score, paths, RARE, 2).behind == ()
    assert association_slots(score[:4], told([0, 0, 0, 2], [0, 0, 0, 1]), RARE, 3).behind
