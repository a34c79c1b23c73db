"""Which array row stands for which id?"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.graph import row_numbers as module
from soulmem.graph.row_numbers import Rows

IDS = ["", "a", "ab", "b", "a\x00", "é", "勃啨", "勃", "\U0001f427", "\ud800", "\x00"]
STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from(IDS) | st.text(max_size=3)), max_size=60)


@pytest.fixture(
    params=["own", pytest.param("one", marks=pytest.mark.nightly), "few"],
    autouse=True,
    scope="module",
)
def _hashes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test with the hashes there are, with one for all ids, and with few; and with little waste."""
    few: dict[str, Callable[[bytes], int]] = {
        "one": lambda _: -7,
        "few": lambda data: 64 * (len(data) % 3),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LEAST_WASTE", 16)
        if request.param in few:
            patch.setattr(module, "hash", few[request.param], raising=False)
        yield


def check(rows: Rows[str], used: dict[str, int]) -> None:
    assert dict(rows) == used
    assert len(rows) == len(set(used.values())) == len(used)
    assert rows.rows_of([*IDS, *used]) == used
    assert {key: rows.row(key) for key in (*IDS, *used)} == {
        key: used.get(key) for key in (*IDS, *used)
    }
    assert [key in rows for key in IDS] == [key in used for key in IDS]
    in_use = {row: key for key, row in used.items()}
    around = range(-2, rows.capacity + 2)
    assert [rows.id(row) for row in around] == [in_use.get(row) for row in around]


def play(rows: Rows[str], used: dict[str, int], steps: list[tuple[bool, str]]) -> None:
    """Adds (True) and drops, in the table and in what it should hold."""
    for adds, key in steps:
        if adds:
            row = rows.add(key)
            assert used.setdefault(key, row) == row
        else:
            assert rows.drop(key) == used.pop(key, None)


@given(STEPS)
def test_ids_and_rows_answer_for_each_other(steps: list[tuple[bool, str]]) -> None:
    """After any adds and drops: one row per id, no row twice, capacity the most that were ever in use."""
    rows: Rows[str] = Rows()
    used: dict[str, int] = {}
    most = 0
    for step in steps:
        play(rows, used, [step])
        most = max(most, len(used))
        assert rows.capacity == most
    check(rows, used)


@given(steps=STEPS, more=STEPS)
def test_packed_and_restored_they_are_the_same_and_go_on_alike(
    steps: list[tuple[bool, str]], more: list[tuple[bool, str]]
) -> None:
    rows: Rows[str] = Rows()
    used: dict[str, int] = {}
    play(rows, used, steps)
    packed = rows.packed()
    as_packed = packed.tobytes()
    again: Rows[str] = Rows()
    again.add("gone")
    again.restore(packed)
    assert again.capacity == rows.capacity
    restored = dict(used)
    check(again, restored)
    play(again, restored, more)
    check(again, restored)
    check(rows, used)
    assert packed.tobytes() == as_packed


def test_an_unknown_id_has_no_row() -> None:
    """Neither before it came nor after it went."""
    rows: Rows[str] = Rows()
    assert rows.row("a") is None
    rows.add("a")
    assert "a" in rows
    rows.drop("a")
    assert rows.row("a") is None
    assert "a" not in rows


def test_thousands_of_ids_come_and_go() -> None:
    """What is dropped leaves no trace, neither bytes nor cells that would make later looks longer and
    longer.
    """
    rows: Rows[str] = Rows()
    for n in range(5_000):
        rows.add(f"id {n}")
        if n >= 100:
            assert rows.drop(f"id {n - 100}") is not None
    assert len(rows) == 100
    assert rows.capacity <= 101
    assert [rows.row(f"id {n}") is not None for n in (4_899, 4_900, 4_999)] == [
        False,
        True,
        True,
    ]
    ids, _, cells = rows._state
    assert len(ids) < 4_000
    assert len(cells) < 400


def test_others_find_every_id_that_stays_while_one_writes() -> None:
    """Whatever it makes room for or moves meanwhile."""
    rows: Rows[str] = Rows()
    stay = {key: rows.add(key) for key in (f"stays {n}" for n in range(40))}
    wrong: list[str] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            wrong.extend(
                key for key, row in stay.items() if rows.row(key) != row or rows.id(row) != key
            )

    others = [threading.Thread(target=look) for _ in range(2)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for each in others:
            each.start()
        for n in range(3_000):
            rows.add(f"comes {n}")
            if n % 300 == 299:
                for m in range(n - 299, n + 1):
                    rows.drop(f"comes {m}")
    finally:
        done.set()
        for each in others:
            each.join()
        sys.setswitchinterval(before)
    assert wrong == []
