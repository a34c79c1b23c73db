"""Do the kernels that look things up find what a look at everything finds? Plain and compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.graph.windows import Windows
from soulmem.kernels import lookups, texts
from soulmem.kernels.interpreted import INTERPRETED
from soulmem.kernels.warm import kernels

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
SEEDS = st.integers(0, 9999)
HASHES = st.integers(-(2**63), 2**63 - 1)


def both_ways(name: str) -> list[Callable[..., Any]]:
    compiled = kernels()
    return [getattr(lookups, name), getattr(compiled, name)]


@given(st.integers(1, 9), st.integers(0, 40), st.integers(0, 40), SEEDS)
def test_chains_are_followed_to_their_ends(n: int, m: int, room: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    row, code = rng.integers(0, n, m), rng.integers(0, 3, m).astype(np.uint8)
    first, after = np.full(n, -1, np.int32), np.full(m, -1, np.int32)
    for slot in rng.permutation(m).tolist():
        after[slot], first[row[slot]] = first[row[slot]], slot
    asked = rng.permutation(n + 3)[: rng.integers(0, n + 4)]  # some have no chain at all
    expected = [
        {int(s) for s in np.flatnonzero((row == wanted_row) & (code > 0))} for wanted_row in asked
    ]
    wanted = np.zeros(256, np.uint8)
    wanted[1:3] = 1
    for follow in both_ways("follow"):
        out, ends = np.full(room, -7), np.zeros(asked.size, np.int64)
        count = follow(first, after, asked, code, wanted, ends, out)
        assert ends.tolist() == np.cumsum([len(some) for some in expected]).tolist()
        assert count == sum(map(len, expected))
        if count <= room:
            starts = [0, *ends.tolist()]
            parts = [out[a:b].tolist() for a, b in pairwise(starts)]
            assert [set(part) for part in parts] == expected
            assert (out[count:] == -7).all()


@given(st.integers(1, 9), st.integers(0, 40), st.integers(1, 5), SEEDS)
def test_the_worth_at_the_ends_of_a_chain_is_added_up(n: int, m: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    row, code = rng.integers(0, n, m), rng.integers(0, 2, m).astype(np.uint8)
    ends = rng.integers(0, n, m).astype(np.uint32)
    worth = rng.integers(0, 3, n).astype(np.uint8)
    first, after = np.full(n, -1, np.int32), np.full(m, -1, np.int32)
    for slot in rng.permutation(m).tolist():
        after[slot], first[row[slot]] = first[row[slot]], slot
    asked = rng.permutation(n + 2)
    for add in both_ways("add_worth"):
        out = np.full(asked.size, -7)
        add(first, after, asked, code, 1, ends, worth, most, out)
        for wanted, found in zip(asked.tolist(), out.tolist(), strict=True):
            mine = worth[ends[(row == wanted) & (code == 1)]]
            whole = int(mine.sum(dtype=np.int64)) if mine.size else -1
            assert found == whole or most <= found <= whole


@given(
    st.lists(
        HASHES | st.integers(-9, 9) | st.integers(2**62, 2**62 + 40),
        unique=True,
        max_size=80,
    ),
    st.lists(HASHES | st.integers(-9, 9) | st.integers(2**62, 2**62 + 40), max_size=9),
    SEEDS,
)
def test_tokens_are_found_however_they_lie(held: list[int], others: list[int], seed: int) -> None:
    """Evenly or crowded, near the ends of what 64 bits hold, and not at all."""
    rng = np.random.default_rng(seed)
    tokens = np.sort(np.asarray(held, np.int64))
    starts = np.cumsum(rng.integers(0, 4, tokens.size + 1)).astype(np.int32)
    wanted = rng.permutation(np.asarray([*held, *others], np.int64))
    places = {
        token: (int(starts[i]), int(starts[i + 1])) for i, token in enumerate(tokens.tolist())
    }
    expected = [places.get(token, (0, 0)) for token in wanted.tolist()]
    for find in both_ways("find_tokens"):
        begin, end = np.full((2, wanted.size), -1)
        find(tokens, starts, wanted, begin, end)
        assert list(zip(begin.tolist(), end.tolist(), strict=True)) == expected


def test_tokens_of_many_hashes_are_all_found() -> None:
    rng = np.random.default_rng(3)
    tokens = np.unique(rng.integers(-(2**63), 2**63 - 1, 100_000))
    starts = np.arange(tokens.size + 1, dtype=np.int32)
    for wanted, there in ((tokens, True), (tokens[:-1] + 1, False)):
        begin, end = np.full((2, wanted.size), -1)
        both_ways("find_tokens")[1](tokens, starts, wanted, begin, end)
        assert ((end - begin) == there).all()
        assert not there or (begin == np.arange(wanted.size)).all()


@given(st.integers(1, 9), st.lists(st.integers(0, 5), max_size=6), st.booleans(), SEEDS)
def test_what_is_at_home_is_taken_in_its_order(
    n: int, many: list[int], is_whole: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    end = np.cumsum(np.asarray(many, np.int64), dtype=np.int64)
    begin = end - np.asarray(many, np.int64)
    total = int(end[-1]) if many else 0
    rows = rng.integers(0, n, total).astype(np.int32)
    often = rng.integers(1, 99, total).astype(np.uint8)
    home = rng.integers(3, 5, n).astype(np.int32)
    taken = np.ones(total, np.bool_) if is_whole else home[rows] == 4
    size = np.asarray([int(taken[a:b].sum()) for a, b in zip(begin, end, strict=True)], np.int64)
    for count, take in zip(both_ways("count_home"), both_ways("take_home"), strict=True):
        counted = np.full(size.size, 10)
        count(rows, begin, end, home, 4, counted)
        assert is_whole or (counted - 10).tolist() == size.tolist()
        place = np.cumsum(size) - size
        matches, times = (
            np.zeros(int(size.sum()), np.int32),
            np.zeros(int(size.sum()), np.uint8),
        )
        take(rows, often, begin, end, home, 4, is_whole, place, matches, times)
        assert matches.tolist() == rows[taken].tolist()
        assert times.tolist() == often[taken].tolist()
        assert place.tolist() == np.cumsum(size).tolist()


@given(st.integers(1, 40), st.integers(0, 4), st.integers(0, 12), SEEDS)
def test_wanted_rows_are_marked(n: int, tokens: int, wanted: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = rng.integers(0, 2 * n, tokens)
    end = np.cumsum(size)
    rows = rng.integers(0, n, int(size.sum())).astype(np.int32)
    asked = np.unique(rng.integers(0, n + 5, wanted))  # some are above all rows
    parts = [rows[a:b] for a, b in zip(end - size, end, strict=True)]
    expected = [np.isin(asked, part).tolist() for part in parts]
    for mark in both_ways("mark_rows"):
        out = np.zeros((tokens, asked.size), np.bool_)
        mark(end - size, end, rows, asked, out)
        assert out.tolist() == expected


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 20), SEEDS)
def test_windows_that_hold_a_number_are_counted(
    n: int, width: int, numbers: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    cells = np.full((int(rng.integers(1, n + 1)), width), -1, np.int32)
    for row in cells:
        row_cells = rng.permutation(numbers)[: rng.integers(0, width + 1)]
        row[: row_cells.size] = row_cells
    windows = Windows.by(rng.integers(0, n, n).astype(np.int32))
    visible: NDArray[np.bool_] = rng.random(n) < 0.7
    asked = rng.integers(0, n, rng.integers(0, n + 4))
    held = [
        {
            number
            for row in np.flatnonzero((windows.of == window) & visible).tolist()
            for number in (cells[row].tolist() if row < len(cells) else [])
            if number >= 0
        }
        for window in set(asked.tolist())
    ]
    expected = Counter(number for terms in held for number in terms)
    passed = np.zeros(n, np.bool_)
    for count in both_ways("count_windows"):
        tally, seen = np.zeros((numbers, 2), np.int32), np.full(numbers, -1, np.int32)
        runs = windows.starts, windows.members
        distinct, holding = count(cells, asked, *runs, visible, passed, tally, seen)
        assert sorted(seen[:distinct].tolist()) == sorted(expected)
        assert {number: int(tally[number, 0]) for number in np.flatnonzero(tally[:, 0])} == expected
        assert holding == sum(map(bool, held))
        assert not passed.any()


@given(st.integers(2, 12), st.integers(0, 12), SEEDS)
def test_a_fact_is_known_where_both_its_ends_are(n: int, facts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    accessible: NDArray[np.bool_] = rng.random(n + facts) < 0.6
    ends = rng.integers(0, n, (facts, 2))
    table = np.column_stack([n + np.arange(facts), ends]).astype(np.int32)
    expected = [
        *accessible[:n].tolist(),
        *(bool(accessible[a] and accessible[b]) for a, b in ends),
    ]
    for know in both_ways("mark_accessible_facts"):
        out = accessible.copy()
        know(table, out)
        assert out.tolist() == expected


@given(st.integers(1, 20), st.integers(0, 8), SEEDS)
def test_rows_get_what_their_pairs_have(n: int, pairs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cosines = rng.random(pairs).astype(np.float32)
    first, second = rng.integers(-1, pairs, (2, n)).astype(np.int32)
    for take in (INTERPRETED.take_pairs, texts.take_pairs, kernels().take_pairs):
        out = np.zeros((2, n), np.float32)
        take(cosines, first, second, *out)
        for numbers, found in zip((first, second), out, strict=True):
            has = numbers >= 0
            assert found[has].tolist() == cosines[numbers[has]].tolist()
            assert np.isnan(found[~has]).all()
