"""Does a soul forget by the clock it is set to: exchanges, its story, the wall?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import Situation, TimeSpan, story_time
from soulmem.domain.soul import SoulClock
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.soul_clock import TURNS_A_DAY, SoulTime
from soulmem.engine.mind.visibility import Visibility
from soulmem.graph.columns import Columns
from soulmem.graph.memory_table import MemoryTable
from soulmem.graph.pairs import Pairs
from soulmem.graph.row_numbers import Rows
from tests.engine.stage import Stage, line

LONG_AGO = datetime(1201, 4, 1, tzinfo=timezone.utc)
DAY = 86_400.0


async def new_edge(stage: Stage, strength: float = 0.8) -> Edge:
    """A link between two memories, drawn now."""
    mind, current_time = await stage.mind(), stage.clock.now()
    ends = tuple(
        Memory(MemoryId(key), SoulId("s1"), MemoryKind.NOTE, key, Origin.USER, current_time)
        for key in ("a", "b")
    )
    turn = float(mind.lived_turns(stage.clock.extra_turns))
    edge = Edge(
        SoulId("s1"),
        ends[0].id,
        ends[1].id,
        EdgeKind.ASSOCIATES,
        Origin.USER,
        current_time,
        strength,
        at_turn=turn,
    )
    await stage.engine.services.compute.run(mind.apply, MindChange(ends, put_edges=(edge,)))
    return edge


async def remaining_strength(stage: Stage, edge: Edge) -> float:
    """What is left of it, read in both ways."""
    mind, extra = await stage.mind(), stage.clock.extra_turns
    ((strength,),) = (mind.edge_strengths(mind.edges.arrays([EdgeKind.ASSOCIATES]), extra),)
    assert mind.edge_strength(edge, mind.lived_turns(extra)) == pytest.approx(strength, abs=1e-12)
    return float(strength)


@pytest.mark.parametrize(("clock", "days"), [("wall", 30.0), ("turns", 0.0), ("story", 0.0)])
async def test_days_that_pass_count_on_the_wall_only(stage: Stage, clock: str, days: float) -> None:
    await stage.soul(clock=SoulClock(clock))
    edge = await new_edge(stage)
    for _ in range(30):
        stage.clock.advance(DAY)
        await remaining_strength(stage, edge)
    assert await remaining_strength(stage, edge) == pytest.approx(
        0.8 * exp(-days * 20 / 300), abs=1e-9
    )


@pytest.mark.parametrize(("clock", "turns"), [("wall", 0.0), ("turns", 150.0), ("story", 150.0)])
async def test_turns_count_but_on_the_wall(stage: Stage, clock: str, turns: float) -> None:
    await stage.soul(clock=SoulClock(clock))
    edge = await new_edge(stage)
    stage.clock.advance(0.0, 150)
    assert await remaining_strength(stage, edge) == pytest.approx(0.8 * exp(-turns / 300), abs=1e-9)


async def test_a_story_that_leaps_a_month_fades_a_month(stage: Stage) -> None:
    await stage.soul(clock=SoulClock.STORY)
    messages = [
        line("m1", story_at=LONG_AGO),
        line("m2", story_at=LONG_AGO + timedelta(1)),
    ]
    await stage.sync("c1", [*messages, line("m3")])
    edge = await new_edge(stage)
    assert await remaining_strength(stage, edge) == pytest.approx(0.8)
    later = [
        line("m3", story_at=LONG_AGO + timedelta(31)),
        line("m4", story_at=LONG_AGO + timedelta(20)),  # told in looking back: no time passes
        line("m5"),  # without a date: one turn
    ]
    await stage.sync("c1", [*messages, *later, line("m6")])
    assert await remaining_strength(stage, edge) == pytest.approx(
        0.8 * exp(-(30 * 20 + 1) / 300), abs=1e-9
    )
    mind = await stage.mind()
    rows = np.asarray([mind.row_of(mind.memories[await stage.find("Al: text of m1")])])
    ages = mind.time.row_ages(rows, mind.exchange_ages(ChatId("c1"), 0)[rows], 0)
    assert ages.tolist() == pytest.approx([31 * 20 + 1])


async def test_the_weight_of_a_memory_falls_by_the_wall(stage: Stage) -> None:
    await stage.soul(clock=SoulClock.WALL)
    await stage.sync("c1", [line("m1", sent_at=stage.clock.now()), line("m2")])
    mind = await stage.mind()
    rows = np.asarray([mind.row_of(mind.memories[await stage.find("Al: text of m1")])])
    stage.clock.advance(3 * DAY, 500)
    assert mind.time.row_ages(
        rows, mind.exchange_ages(None, 500)[rows], 500
    ).tolist() == pytest.approx([3 * TURNS_A_DAY])


class StoryExchanges(Visibility):
    """Exchanges that took place at these moments of the story, 0 where none is told."""

    def __init__(self, story: list[float]) -> None:
        rows: Rows[MemoryId] = Rows()
        super().__init__(MemoryTable(rows), rows, Pairs(rows), Columns())
        self._story = np.asarray(story)

    def exchange_story_times(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self._story

    def exchange_count(self) -> int:
        return self._story.size


@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1.0, 1e8)), max_size=30),
    st.integers(0, 40),
)
def test_the_story_never_runs_backwards(story: list[float], extra: int) -> None:
    clock = SoulTime(lambda: SoulClock.STORY, StoryExchanges(story), Columns())
    shown = clock._at_turns(np.arange(len(story) + extra + 1, dtype=np.float64))
    assert shown[0] == 0.0
    assert (np.diff(shown) >= 0).all()
    assert clock.current_turn(extra) == pytest.approx(shown[-1])
    dated = [moment for moment in story if moment]
    span = (max(dated) - dated[0]) / DAY * TURNS_A_DAY if dated else 0.0
    assert shown[-1] == pytest.approx(span + story.count(0.0) + extra)


def test_a_story_is_dated_or_told_in_words() -> None:
    assert story_time(Situation()) == 0.0
    assert story_time(Situation(TimeSpan(story="in the year of the comet"))) == 0.0
    dated = Situation(TimeSpan(story=LONG_AGO.isoformat()))
    assert story_time(dated) == LONG_AGO.timestamp()
