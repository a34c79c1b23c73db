"""Has each pair one row as long as some chat tells it, and is it found by it?"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulmem.domain.ids import MemoryId
from soulmem.graph.pairs import Pair, Pairs
from soulmem.graph.rows import Rows

EPISODES = [MemoryId(f"e{i}") for i in range(5)]
PAIRS = [(one, other) for one in EPISODES for other in EPISODES]
STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from(PAIRS)), max_size=60)


def play(pairs: Pairs, told: Counter[Pair], steps: list[tuple[bool, Pair]]) -> None:
    """Chats that tell a pair (True) and that do so no more."""
    for comes, pair in steps:
        if comes:
            assert pairs.add(pair) is (not told[pair])
            told[pair] += 1
        elif told[pair]:
            pairs.remove(pair)
            told[pair] -= 1


def check(pairs: Pairs, told: Counter[Pair]) -> None:
    assert {pair: pairs.chats(pair) for pair in PAIRS} == {
        pair: told[pair] for pair in PAIRS
    }
    rows = {pair: row for pair in PAIRS if (row := pairs.row(pair)) is not None}
    assert set(rows) == {pair for pair in PAIRS if told[pair]}
    assert dict(pairs) == rows
    assert len(pairs) == len(set(rows.values())) == len(rows)
    known = {row: pair for pair, row in rows.items()}
    around = range(-2, pairs.capacity + 2)
    assert [pairs.id(row) for row in around] == [known.get(row) for row in around]
    for one in EPISODES:
        assert pairs.beside(one) == [
            known[row] for row in sorted(known) if one in known[row]
        ]


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_a_pair_has_a_row_while_a_chat_tells_it(steps: list[tuple[bool, Pair]]) -> None:
    pairs, told = Pairs(Rows()), Counter[Pair]()
    most = 0
    for step in steps:
        play(pairs, told, [step])
        most = max(most, sum(1 for count in told.values() if count))
    check(pairs, told)
    assert pairs.capacity == most


@settings(max_examples=300, deadline=None)
@given(steps=STEPS, more=STEPS)
def test_put_away_and_fetched_they_are_the_same_and_go_on_alike(
    steps: list[tuple[bool, Pair]], more: list[tuple[bool, Pair]]
) -> None:
    rows: Rows[MemoryId] = Rows()
    pairs, told = Pairs(rows), Counter[Pair]()
    play(pairs, told, steps)
    before = dict(pairs)
    every = [row for pair, row in before.items() for _ in range(pairs.chats(pair))]
    again = Pairs(rows)
    again.restore(pairs.ends(), np.asarray(every, np.int64))
    assert dict(again) == before
    assert again.capacity == pairs.capacity
    check(again, told)
    play(again, told, more)
    check(again, told)


def test_what_no_chat_tells_cannot_be_told_less() -> None:
    pairs = Pairs(Rows())
    with pytest.raises(KeyError):
        pairs.remove(PAIRS[1])
    pairs.add(PAIRS[1])
    with pytest.raises(KeyError):
        pairs.remove(PAIRS[2])
