"""Has each pair one row as long as some chat tells it, and is it found by it?"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.ids import MemoryId
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.row_numbers import Rows

EPISODES = [MemoryId(f"e{i}") for i in range(5)]
PAIRS = [(item, other) for item in EPISODES for other in EPISODES]
STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from(PAIRS)), max_size=60)


def play(pairs: Pairs, counts: Counter[Pair], steps: list[tuple[bool, Pair]]) -> None:
    """Chats that tell a pair (True) and that do so no more."""
    for comes, pair in steps:
        if comes:
            assert pairs.add(pair) is (not counts[pair])
            counts[pair] += 1
        elif counts[pair]:
            pairs.remove(pair)
            counts[pair] -= 1


def check(pairs: Pairs, counts: Counter[Pair]) -> None:
    assert {pair: pairs.chats(pair) for pair in PAIRS} == {pair: counts[pair] for pair in PAIRS}
    rows = {pair: row for pair in PAIRS if (row := pairs.row(pair)) is not None}
    assert set(rows) == {pair for pair in PAIRS if counts[pair]}
    assert dict(pairs) == rows
    assert len(pairs) == len(set(rows.values())) == len(rows)
    expected = {row: pair for pair, row in rows.items()}
    around = range(-2, pairs.capacity + 2)
    assert [pairs.id(row) for row in around] == [expected.get(row) for row in around]
    for step in EPISODES:
        assert pairs.beside(step) == [
            expected[row] for row in sorted(expected) if step in expected[row]
        ]


@given(STEPS)
def test_a_pair_has_a_row_while_a_chat_tells_it(steps: list[tuple[bool, Pair]]) -> None:
    pairs, counts = Pairs(Rows()), Counter[Pair]()
    most = 0
    for step in steps:
        play(pairs, counts, [step])
        most = max(most, sum(1 for count in counts.values() if count))
    check(pairs, counts)
    assert pairs.capacity == most


@given(steps=STEPS, more=STEPS)
def test_put_away_and_fetched_they_are_the_same_and_go_on_alike(
    steps: list[tuple[bool, Pair]], more: list[tuple[bool, Pair]]
) -> None:
    rows: Rows[MemoryId] = Rows()
    pairs, counts = Pairs(rows), Counter[Pair]()
    play(pairs, counts, steps)
    before = dict(pairs)
    every = [row for pair, row in before.items() for _ in range(pairs.chats(pair))]
    again = Pairs(rows)
    again.restore(pairs.ends(), np.asarray(every, np.int64))
    assert dict(again) == before
    assert again.capacity == pairs.capacity
    check(again, counts)
    play(again, counts, more)
    check(again, counts)


def test_what_no_chat_tells_cannot_be_told_less() -> None:
    pairs = Pairs(Rows())
    with pytest.raises(KeyError):
        pairs.remove(PAIRS[1])
    pairs.add(PAIRS[1])
    with pytest.raises(KeyError):
        pairs.remove(PAIRS[2])
