"""Which array row stands for which id?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from soulmem.graph.rows import Rows

STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from("abcdef")), max_size=40)


@given(STEPS)
def test_ids_and_rows_answer_for_each_other(steps: list[tuple[bool, str]]) -> None:
    """After any adds and drops: one row per id, no row twice, capacity the most that were ever in use."""
    rows: Rows[str] = Rows()
    used: dict[str, int] = {}
    most = 0
    for adds, key in steps:
        if adds:
            row = rows.add(key)
            assert used.setdefault(key, row) == row
        else:
            assert rows.drop(key) == used.pop(key, None)
        most = max(most, len(used))
        assert dict(rows) == used
        assert len(set(used.values())) == len(used) == len(rows)
        assert rows.capacity == most
        in_use = {row: key for key, row in used.items()}
        assert [rows.id(row) for row in range(-1, most + 1)] == [in_use.get(r) for r in range(-1, most + 1)]


def test_an_unknown_id_has_no_row() -> None:
    """Neither before it came nor after it went."""
    rows: Rows[str] = Rows()
    assert rows.row("a") is None
    rows.add("a")
    assert "a" in rows
    rows.drop("a")
    assert rows.row("a") is None
    assert "a" not in rows


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 150).map(lambda n: 64 * (n % 97))), max_size=400))
def test_ids_are_found_whose_hashes_meet(steps: list[tuple[bool, int]]) -> None:
    """A number is its own hash, so these all want the same few cells; many come and go, and rows are laid
    out anew.
    """
    rows: Rows[int] = Rows()
    used: dict[int, int] = {}
    for adds, key in steps:
        if adds:
            used[key] = rows.add(key)
        else:
            assert rows.drop(key) == used.pop(key, None)
    assert {key: rows.row(key) for key in range(0, 64 * 97, 64)} == {
        key: used.get(key) for key in range(0, 64 * 97, 64)
    }
    again: Rows[int] = Rows()
    again.restore(rows.ids())
    assert dict(again) == dict(rows) == used
    assert all(again.row(key) == row for key, row in used.items())
    assert len(again) == len(used)
    assert {again.add(-1), rows.add(-1)}.isdisjoint(used.values())


def test_thousands_of_ids_come_and_go() -> None:
    """What is dropped leaves no trace that would make later looks longer and longer."""
    rows: Rows[str] = Rows()
    for n in range(20_000):
        rows.add(f"id {n}")
        if n >= 100:
            assert rows.drop(f"id {n - 100}") is not None
    assert len(rows) == 100
    assert rows.capacity <= 101
    assert [rows.row(f"id {n}") is not None for n in (19_899, 19_900, 19_999)] == [False, True, True]
