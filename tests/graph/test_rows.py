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
