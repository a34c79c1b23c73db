"""What was recalled how often and when, by memory, by row and by reply?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.usage import RecallRecord, Stamp, Trail, Usage, first_use
from soulmem.graph import recalls as module
from soulmem.graph.recalls import Recalls
from soulmem.graph.row_numbers import Rows

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
SOUL = SoulId("s1")


def usage(memory: str, *turns: int) -> Usage:
    """The record of a memory recalled at these turns."""
    stamps = [Stamp(NOON + timedelta(minutes=turn), turn) for turn in turns]
    matches = first_use(MemoryId(memory), SOUL, stamps[0])
    for stamp in stamps[1:]:
        matches = matches.again(stamp)
    return matches


def record(trace: str, slot: str = "r1", swipe: int = 0) -> RecallRecord:
    """A recall for a reply."""
    trails = (Trail(MemoryId("a")),)
    return RecallRecord(trace, SOUL, ChatId("c1"), SlotId(slot), swipe, Stamp(NOON, 1), trails)


@pytest.fixture
def rows() -> Rows[MemoryId]:
    """Memories a .. e at rows 0 .. 4."""
    made: Rows[MemoryId] = Rows()
    for name in "abcde":
        made.add(MemoryId(name))
    return made


def test_columns_say_what_the_records_say(rows: Rows[MemoryId]) -> None:
    """By row: how often, at which turn, how long ago; beyond the known rows nothing was ever recalled."""
    recalls = Recalls(rows)
    recalls.put([usage("b", 3, 8), usage("d", 9)])
    assert recalls.uses(200)[:5].tolist() == [0, 2, 0, 1, 0]
    assert recalls.last_turn(5).tolist() == [-1, 8, -1, 9, -1]
    assert recalls.since_use(np.arange(5), turn=8).tolist() == [
        np.inf,
        0.0,
        np.inf,
        0.0,
        np.inf,
    ]
    assert recalls.since_use(np.array([3, 4, 1]), turn=20).tolist() == [
        11.0,
        np.inf,
        12.0,
    ]
    assert not recalls.uses(200)[5:].any()
    assert (recalls.last_turn(200)[5:] == -1).all()
    recalls.put([usage("b", 3, 8, 30)])
    assert recalls.uses(5).tolist() == [0, 3, 0, 1, 0]
    assert recalls.usage(MemoryId("b")) == usage("b", 3, 8, 30)
    assert recalls.usage(MemoryId("a")) is None


def test_what_nobody_lives_to_see_is_counted_no_further(rows: Rows[MemoryId]) -> None:
    recalls = Recalls(rows)
    recalls.put([replace(usage("b", 3, 2**31), count=2**40), usage("c", 2**31 - 1)])
    assert recalls.uses(3).tolist() == [0, 2**31 - 1, 1]
    assert recalls.since_use(np.arange(3), turn=2**33).tolist() == [
        np.inf,
        *[2**33 - 2**31 + 1.0] * 2,
    ]
    assert recalls.hot(2) == [MemoryId("b"), MemoryId("c")]
    assert recalls.usage(MemoryId("b")) == replace(usage("b", 3, 2**31), count=2**40)


def test_a_dropped_memory_leaves_nothing_to_the_next_one_at_its_row(
    rows: Rows[MemoryId],
) -> None:
    recalls = Recalls(rows)
    recalls.put([usage("b", 3, 8)])
    recalls.drop(MemoryId("b"), rows.drop(MemoryId("b")))
    assert rows.add(MemoryId("new")) == 1
    assert recalls.usage(MemoryId("b")) is None
    assert (recalls.uses(5)[1], recalls.last_turn(5)[1]) == (0, -1)
    assert recalls.hot(9) == []


def test_what_is_said_of_strangers_is_ignored(rows: Rows[MemoryId]) -> None:
    recalls = Recalls(rows)
    recalls.put([usage("stranger", 3)])
    assert list(recalls) == []


def test_the_hot_ones_come_by_count_then_by_turn(rows: Rows[MemoryId]) -> None:
    """What was never recalled is not hot."""
    recalls = Recalls(rows)
    recalls.put([usage("a", 1, 2), usage("b", 1, 7), usage("c", 9), usage("d", 1, 2, 3)])
    assert recalls.hot(10) == ["d", "b", "a", "c"]
    for count in range(5):
        assert recalls.hot(count) == ["d", "b", "a", "c"][:count]


def test_a_reply_has_taught_while_its_record_is_there(rows: Rows[MemoryId]) -> None:
    """Another swipe of the same slot has not."""
    recalls = Recalls(rows)
    recalls.put(records=[record("t1"), record("t2", swipe=1)])
    assert recalls.is_recorded((ChatId("c1"), SlotId("r1"), 0))
    assert not recalls.is_recorded((ChatId("c1"), SlotId("r1"), 2))
    assert [item.trace for item in recalls.records()] == ["t1", "t2"]
    recalls.put(dropped=["t1", "unknown"])
    assert not recalls.is_recorded((ChatId("c1"), SlotId("r1"), 0))
    assert recalls.is_recorded((ChatId("c1"), SlotId("r1"), 1))


def test_records_come_oldest_first_in_whatever_order_they_taught(
    rows: Rows[MemoryId],
) -> None:
    """So that a soul that is opened again has the same."""
    recalls = Recalls(rows)
    late = replace(record("t1"), stamp=Stamp(NOON + timedelta(hours=1), 9))
    recalls.put(records=[late, record("t3"), record("t2")])
    assert [item.trace for item in recalls.records()] == ["t2", "t3", "t1"]


def test_the_oldest_records_leave_for_new_ones(
    rows: Rows[MemoryId], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    recalls = Recalls(rows)
    for number in range(6):
        surplus = recalls.surplus(1)
        recalls.put(records=[record(f"t{number}", slot=f"r{number}")], dropped=surplus)
    assert [item.trace for item in recalls.records()] == ["t3", "t4", "t5"]
