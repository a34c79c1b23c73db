"""Working memory is brought up to date in steps, between which a soul lives on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import Soul
from soulmem.domain.usage import RecallRecord, Stamp, Trail
from soulmem.engine.learning import working_memory_upkeep as module
from soulmem.engine.learning.working_memory_upkeep import refresh
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.graph.working_memory import Active
from tests.fakes.clock import StillClock

SOUL, CHAT = SoulId("s1"), ChatId("c1")
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
COUNT = 12


def memory(number: int) -> Memory:
    """A note of the soul; three are made at one moment."""
    return Memory(
        MemoryId(f"m{number}"),
        SOUL,
        MemoryKind.NOTE,
        f"thing {number}",
        Origin.CHAT,
        created=NOW + timedelta(seconds=number // 3),
    )


def record(number: int) -> RecallRecord:
    """A recall that came to one note over another."""
    ways = (Trail(MemoryId(f"m{number}"), (MemoryId(f"m{(number + 5) % COUNT}"),)),)
    stamp = Stamp(NOW + timedelta(minutes=number), number)
    return RecallRecord(f"t{number}", SOUL, CHAT, SlotId(f"r{number}"), 0, stamp, ways)


def lived() -> Mind:
    """A soul with notes, and with recalls of some of them."""
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    mind.apply(MindChange(put_memories=tuple(memory(n) for n in range(COUNT))))
    mind.columns.live[: mind.size] = True
    mind.recalls.put(records=[record(n) for n in range(COUNT)])
    return mind


def learn(mind: Mind) -> None:
    more = replace(record(3), trace="later", slot=SlotId("later"))
    mind.recalls.put(records=[more])
    module.recalled(mind, more)


def forget(mind: Mind) -> None:
    """Of what a recall came over two memories to, one is left."""
    mind.apply(MindChange(drop_memories=(MemoryId("m4"), MemoryId("m7"))))


def active(mind: Mind) -> list[Active]:
    assert mind.recalls.working is not None
    return mind.recalls.working.active()


def names(mind: Mind) -> list[str]:
    """What is active, by id: a recall counts for the other memories of its way also where one is gone since."""
    return sorted(entry.memory for entry in active(mind))


@pytest.mark.parametrize(("happens", "seen"), [(learn, active), (forget, names)])
def test_what_happens_between_two_steps_counts(
    happens: Callable[[Mind], None],
    seen: Callable[[Mind], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At whichever step: the result is that of steps taken afterwards."""
    monkeypatch.setattr(module, "_RECORDS", 3)
    monkeypatch.setattr(module, "_MEMORIES", 4)
    clock, after = StillClock(), lived()
    happens(after)
    assert list(refresh(after, clock))
    steps = len(list(refresh(lived(), clock)))
    assert steps > 5
    for at in range(steps):
        mind = lived()
        for number, _ in enumerate(refresh(mind, clock)):
            if number == at:
                happens(mind)
        assert seen(mind) == seen(after), at


def test_memories_of_one_moment_are_counted_together() -> None:
    mind = lived()
    candidates = module._candidates(mind, 0, 100)
    assert candidates.rows.tolist() == list(range(COUNT))
    assert candidates.is_young.all()
    assert module._counts(mind, candidates.moments).tolist() == [3] * COUNT
    mind.columns.live[: mind.size] = False
    nothing = module._candidates(mind, 0, 100)
    assert not nothing.rows.size
    assert not module._counts(mind, nothing.moments).size


def test_a_memory_that_took_the_row_of_another_is_not_taken_for_it() -> None:
    mind = lived()
    candidates = module._candidates(mind, 0, 100)
    list(refresh(mind, StillClock()))
    mind.apply(MindChange(drop_memories=(MemoryId("m4"),)))
    mind.apply(MindChange(put_memories=(replace(memory(0), id=MemoryId("new")),)))
    assert mind.row(MemoryId("new")) == 4
    there = module._still_there(mind, candidates, slice(0, COUNT))
    assert set(there) == {MemoryId(f"m{n}") for n in range(COUNT) if n != 4}
