"""The edges that lead to actions are collected again where one of them changed, and only there."""

from __future__ import annotations

from soulmem.domain.edges import EdgeKind
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.habit_edges import HabitEdges, collect_habit_edges
from soulmem.engine.recall.habits import Habits
from soulmem.engine.runtime.worker import compute_only
from tests.engine.reflexes import opened, reflex
from tests.engine.stage import lines


@compute_only
def collected(mind: Mind, habits: Habits) -> HabitEdges:
    """As they are now, whatever was kept; to compare."""
    made = collect_habit_edges(mind, habits.params.firing)
    kept = habits._edges_of(mind)
    assert kept.revision == made.revision == mind.edges.revision
    assert repr(kept) == repr(made)
    return kept


async def test_they_last_until_what_leads_to_an_action_changes() -> None:
    stage, habits = await opened(None), Habits()
    (key,) = await reflex(stage, "a stranger stares", [("pulls her hood up", 1.0)])
    mind = await stage.mind()
    first = collected(mind, habits)
    assert first.tendencies
    await stage.sync("c2", lines(6))
    after_messages = collected(mind, habits)
    assert after_messages.revision > first.revision
    assert after_messages.paths is first.paths
    await reflex(stage, "the bell rings", [("runs to the gate", 0.5)])
    more = collected(mind, habits)
    assert len(more.tendencies) == 2
    fires = [e.id for e in mind.edges_of(key) if e.kind is EdgeKind.FIRES]
    mind.apply(MindChange(drop_edges=tuple(fires)))
    assert len(collected(mind, habits).tendencies) == 1
    await stage.stop()
