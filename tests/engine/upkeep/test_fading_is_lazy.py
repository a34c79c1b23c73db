"""A month that passes writes nothing: how clear a text is follows from its age at each look."""

from __future__ import annotations

import pytest

from soulmem.engine.api.requests import NewUnit
from soulmem.ports.store import Change
from tests.engine.stage import ME, Stage, line, lines
from tests.examples import sized
from tests.fakes.store import FakeStore

WORDS = 1_000  # of a note, each of them a unit
NOTES = sized(20, 100)
MONTH = 30 * 86_400.0
YEAR = 400 * 86_400.0


class CountingStore(FakeStore):
    """Counts the changes that were stored."""

    def __init__(self) -> None:
        super().__init__()
        self.changes = 0

    async def commit(self, change: Change) -> None:
        self.changes += bool(change)
        await super().commit(change)


# How long a text of a thousand units lasts is searched for, also when each note is made: a quarter of a second.
@pytest.mark.timeout(300)
async def test_a_month_of_many_thousand_units_writes_nothing() -> None:
    store = CountingStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    await stage.sync("c1", [line("m1", "Mira lost the silver ring."), *lines(9, 2)])
    await stage.close("c1")
    text = " ".join(f"word{n:04}" for n in range(WORDS))
    units = tuple(NewUnit("", 9 * n, 9 * n + 8) for n in range(WORDS))
    views = [await stage.note(f"{text} {n}.", units=units) for n in range(NOTES)]
    await stage.engine.idle.run()
    assert sum(len(view.units) for view in views) == WORDS * NOTES
    stage.clock.advance(YEAR)  # what its day, its week, .. told is kept once each is over
    await stage.engine.idle.run()
    before = store.changes

    stage.clock.advance(MONTH, 600)
    await stage.engine.idle.run()
    await stage.recall("word0007", "c1")
    # Of notes that were made alike: to say when the last of a thousand units is gone takes a tenth of a second
    ids = [view.memory.id for view in views[::10]]
    clear = [(await stage.engine.memories.get(ME, key)).visibility for key in ids]

    assert store.changes == before
    assert 0.0 < max(clear) < 0.4
    await stage.stop()
