"""Which memories are merged, and which of them stands in where their own memory is not known."""

from __future__ import annotations

from datetime import datetime, timezone

import numpy as np

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.graph.row_numbers import Rows
from soulmem.graph.telling_groups import Tellings

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def merged(key: str, centre: str | None) -> Memory:
    """An episode that another stands for."""
    return Memory(
        MemoryId(key),
        SoulId("s"),
        MemoryKind.EPISODE,
        "text",
        Origin.CHAT,
        NOW,
        state=MemoryState.MERGED if centre else MemoryState.ACTIVE,
        merged_into=MemoryId(centre) if centre else None,
    )


def table() -> Tellings:
    """b, c and d are merged into a; rows in that order."""
    rows: Rows[MemoryId] = Rows()
    for key in "abcd":
        rows.add(MemoryId(key))
    tellings = Tellings(rows)
    for key in "abcd":
        tellings.put(merged(key, None if key == "a" else "a"))
    return tellings


def test_a_memory_is_found_by_its_tellings_and_these_by_it() -> None:
    tellings = table()

    assert tellings.merged(MemoryId("a")) == ("b", "c", "d")
    assert tellings.centre(MemoryId("c")) == "a"
    assert tellings.centre(MemoryId("a")) is None
    assert list(tellings) == ["a"]


def test_a_telling_that_comes_back_or_goes_is_no_longer_united() -> None:
    tellings = table()
    tellings.put(merged("b", None))
    tellings.drop(MemoryId("c"))
    tellings.put(merged("d", "x"))

    assert tellings.merged(MemoryId("a")) == ()
    assert tellings.merged(MemoryId("x")) == ("d",)
    assert len(tellings) == 1


def test_the_first_told_that_is_reached_stands_in_for_a_memory_that_is_not() -> None:
    tellings = table()
    happened = np.asarray([0.0, 3.0, 1.0, 2.0])
    reached = np.asarray([False, True, False, True])
    nothing = np.zeros(4, bool)

    assert tellings.stand_ins(reached, nothing, happened) == [3]
    accessible = np.asarray([True, False, False, False])
    assert tellings.stand_ins(reached | accessible, accessible, happened) == []
    assert tellings.stand_ins(nothing, nothing, happened) == []
