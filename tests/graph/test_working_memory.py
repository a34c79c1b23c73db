"""What is active, and what leaves when?"""

from __future__ import annotations

from soulmem.domain.ids import MemoryId
from soulmem.graph.working_memory import Active, WorkingMemory, WorkingParams


def m(*names: str) -> list[MemoryId]:
    """Memories of those names."""
    return [MemoryId(name) for name in names]


def test_a_recall_activates_every_memory_and_step_on_its_ways_once() -> None:
    """Also what two ways share; a later recall counts on."""
    working = WorkingMemory()
    working.add_recall([m("a", "b", "c"), m("a", "b", "d"), m("e")], turn=4)
    assert [(item.memory, item.count, item.turn) for item in working.active()] == [
        (name, 1, 4) for name in "abcde"
    ]
    assert sorted(working.graph.edges(data="count")) == [
        ("a", "b", 1),
        ("b", "c", 1),
        ("b", "d", 1),
    ]
    working.add_recall([m("a", "b")], turn=9)
    assert working.active(2) == [Active(name, 2, 9, False) for name in m("a", "b")]
    assert working.graph.edges["a", "b"] == {"count": 2, "turn": 9}
    assert working.graph.edges["b", "c"] == {"count": 1, "turn": 4}


def test_activations_are_counted_while_it_is_there() -> None:
    working = WorkingMemory()
    for turn in range(3):
        working.add_recall([m("a", "b")], turn=turn)
    assert [working.activations(name) for name in m("a", "b", "stranger")] == [3, 3, 0]
    working.drop(MemoryId("a"))
    assert working.activations(MemoryId("a")) == 0


def test_what_is_cold_leaves_but_for_what_is_kept() -> None:
    """With its steps, after 500 turns without use."""
    working = WorkingMemory()
    working.add_recall([m("old", "hot")], turn=0)
    working.add_recall([m("young")], turn=300)
    assert working.release(500, m("hot")) == []
    assert working.release(501, m("hot")) == ["old"]
    assert set(working) == {"hot", "young"}
    assert working.graph.number_of_edges() == 0
    assert MemoryId("old") not in set(working)
    assert working.release(801, ()) == ["hot", "young"]
    assert len(working) == 0


def test_a_new_memory_leaves_after_100_turns_unless_it_is_promoted() -> None:
    working = WorkingMemory()
    for name in m("trivial", "dear"):
        working.add_new(name, turn=10)
    assert {item.memory for item in working.active() if item.is_new} == {
        "trivial",
        "dear",
    }
    working.promote(MemoryId("dear"))
    working.promote(MemoryId("stranger"))
    assert working.release(110, ()) == []
    assert working.release(111, ()) == ["trivial"]
    assert working.active() == [Active(MemoryId("dear"), 0, 10, False)]


def test_seeing_a_new_memory_again_does_not_make_it_younger() -> None:
    working = WorkingMemory()
    working.add_new(MemoryId("a"), turn=10)
    working.add_new(MemoryId("a"), turn=90)
    assert working.release(111, ()) == ["a"]


def test_its_size_is_bounded() -> None:
    """The coldest leave first, and nothing that is kept."""
    working = WorkingMemory(WorkingParams(most=3))
    for turn, name in enumerate(m("core", "a", "b", "c", "d")):
        working.add_recall([[name]], turn)
    assert sorted(working.release(5, m("core"))) == ["a", "b"]
    assert set(working) == {"core", "c", "d"}


def test_a_memory_that_is_dropped_is_not_active() -> None:
    working = WorkingMemory()
    working.add_recall([m("a", "b", "c")], turn=1)
    working.drop(MemoryId("b"))
    working.drop(MemoryId("b"))
    assert set(working) == {"a", "c"}
    assert working.graph.number_of_edges() == 0
