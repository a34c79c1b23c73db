"""Habits as a page shows them: what sets a trigger off, and what it sets off."""

from __future__ import annotations

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.api.results import HabitPage, MemoryView
from tests.engine.stage import ME, Stage

Shown = tuple[list[str], list[tuple[str, float | None]]]


async def habits(stage: Stage, limit: int = 100, cursor: str | None = None) -> HabitPage:
    return await stage.engine.overviews.habits(ME, SoulId("s1"), limit, cursor)


def shown(page: HabitPage) -> list[Shown]:
    """Situations and actions, each by its text."""
    return [
        (
            [view.memory.text for view in habit.situations],
            [(action.view.memory.text, action.probability) for action in habit.actions],
        )
        for habit in page.habits
    ]


async def habit(stage: Stage, when: str, *does: tuple[str, float]) -> list[MemoryView]:
    """The actions of a new habit."""
    situation = await stage.note(when, kind=MemoryKind.ABSTRACT_EPISODE)
    start = NewEdge(EdgeKind.TRIGGERS, source=situation.memory.id)
    trigger = await stage.note(when, kind=MemoryKind.TRIGGER, edges=(start,))
    out = []
    for text, share in does:
        stage.clock.advance(1.0, 0)
        fires = NewEdge(EdgeKind.FIRES, source=trigger.memory.id, probability=share)
        out.append(await stage.note(text, kind=MemoryKind.ACTION, edges=(fires,)))
    return out


async def test_a_habit_is_shown_with_all_its_deeds(either_stage: Stage) -> None:
    await habit(either_stage, "it rains", ("hums", 0.6), ("sighs", 0.3))
    await habit(either_stage, "somebody sings", ("joins in", 1.0))
    assert shown(await habits(either_stage)) == [
        (["somebody sings"], [("joins in", 1.0)]),
        (["it rains"], [("hums", 0.6), ("sighs", 0.3)]),
    ]


async def test_an_action_that_nothing_sets_off_is_shown_by_itself(stage: Stage) -> None:
    await stage.note("whistles", kind=MemoryKind.ACTION)
    (alone,) = (await habits(stage)).habits
    assert (alone.trigger, shown(await habits(stage))) == (
        None,
        [([], [("whistles", None)])],
    )


async def test_what_is_in_the_bin_is_not_shown(stage: Stage) -> None:
    hums, _ = await habit(stage, "it rains", ("hums", 0.6), ("sighs", 0.3))
    await stage.engine.memories.delete(ME, hums.memory.id, None)
    assert shown(await habits(stage)) == [(["it rains"], [("sighs", 0.3)])]
    (only,) = (await habits(stage)).habits
    assert only.trigger is not None
    await stage.engine.memories.delete(ME, only.trigger, None)
    assert shown(await habits(stage)) == [([], [("sighs", None)])]


async def test_page_by_page_each_habit_comes_once(stage: Stage) -> None:
    for number in range(3):
        await habit(stage, f"case {number}", (f"deed {number}", 1.0))
    seen: list[Shown] = []
    cursor: str | None = None
    for _ in range(3):
        page = await habits(stage, 1, cursor)
        seen += shown(page)
        cursor = page.cursor
    assert (seen, cursor) == (shown(await habits(stage)), None)
    with pytest.raises(Unprocessable):
        await habits(stage, 1, "somewhere")
