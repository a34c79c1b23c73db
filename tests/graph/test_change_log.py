"""Is every change remembered for whoever missed few, and is it told when some are not?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.edges import EdgeKind
from soulmem.graph import change_log
from soulmem.graph.change_log import ChangeLog, EdgeChange


@given(st.lists(st.one_of(st.integers(0, 99), st.just(None)), max_size=60))
def test_what_was_missed_is_told_or_that_it_is_not_known(
    changes: list[int | None],
) -> None:
    """None forgets."""
    kept, all_changes = ChangeLog(), list[EdgeChange | None]()
    before = change_log._MOST
    change_log._MOST = 8
    try:
        for number in changes:
            if number is None:
                kept.reset()
                all_changes.append(None)
            else:
                all_changes.append(EdgeChange(number, 0, 1, EdgeKind.NEXT))
                kept.add(EdgeChange(number, 0, 1, EdgeKind.NEXT))
    finally:
        change_log._MOST = before
    assert kept.revision == len(all_changes)
    for since in range(len(all_changes) + 1):
        matches, missed = kept.since(since), all_changes[since:]
        if matches is None:
            assert None in missed or len(missed) > 8
        else:
            assert matches == missed
    assert kept.since(len(all_changes) + 1) is None
    if None not in all_changes[-8:]:
        assert kept.since(max(0, len(all_changes) - 8)) is not None
