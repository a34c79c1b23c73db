"""Responses of the habits of a soul."""

from __future__ import annotations

from soulmem.engine.api.results import HabitPage, HabitView
from soulmem.server.responses.common import ResponseBody
from soulmem.server.responses.memories import ListedMemory, listed_memory


class HabitActionResponse(ResponseBody, frozen=True):
    """An action; `probability`, 0..1, is null of one that no trigger sets off."""

    memory: ListedMemory
    probability: float | None


class HabitResponse(ResponseBody, frozen=True):
    """A trigger, what sets it off and what it sets off; `trigger` is null of an action by itself."""

    trigger: str | None
    situations: list[ListedMemory]
    actions: list[HabitActionResponse]


class HabitsResponse(ResponseBody, frozen=True):
    """A page of habits, the newest first; `cursor` is null on the last page."""

    habits: list[HabitResponse]
    cursor: str | None


def habits_response(page: HabitPage) -> HabitsResponse:
    """A page of habits."""
    return HabitsResponse(habits=list(map(_habit, page.habits)), cursor=page.cursor)


def _habit(habit: HabitView) -> HabitResponse:
    return HabitResponse(
        trigger=habit.trigger,
        situations=list(map(listed_memory, habit.situations)),
        actions=[
            HabitActionResponse(
                memory=listed_memory(action.view), probability=action.probability
            )
            for action in habit.actions
        ],
    )
