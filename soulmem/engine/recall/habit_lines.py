"""Habits in an answer: actions that fire are impulses, those the soul knows of itself self-knowledge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from soulmem.assembly.compose import Budget, PromptLine, line_of
from soulmem.assembly.why import Cause, Reason, reason_sentence
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.api.results import PathStep, RecalledMemory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.habits import Habit
from soulmem.engine.views.provenance import source_places
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS

_ACTION = MEMORY_KINDS.index(MemoryKind.ACTION)
_PATTERN = MEMORY_KINDS.index(MemoryKind.ABSTRACT_EPISODE)
_USER = ORIGINS.index(Origin.USER)
_LABEL = 40  # characters of a memory that name it in a path
# Habits in one answer that a soul knows of itself: they are beside the point of most talk.
_MOST_ACTIONS = 3


@dataclass(frozen=True, slots=True)
class HabitLine:
    """A habit that is in the answer."""

    habit: Habit
    memory: Memory
    line: PromptLine


def select_habits(
    mind: Mind,
    habits: Sequence[Habit],
    permanent: Collection[MemoryId],
    budget: Budget,
    most: int,
) -> list[HabitLine]:
    """The habits that fit the budget, at most `most`; of permanent ones only those that fire: the others
    stand among what is permanent.
    """
    out: list[HabitLine] = []
    for habit in habits:
        if not habit.fired and habit.action in permanent:
            continue
        memory = mind.memories[habit.action]
        line = line_of(memory, is_impulse=habit.fired)
        if len(out) < most and budget.take(line):
            out.append(HabitLine(habit, memory, line))
    return out


def open_candidates(mind: Mind, rows: Sequence[int], habits: Sequence[HabitLine]) -> list[int]:
    """Positions in `rows`, best first, of the candidates that are neither permanent nor among the habits, nor the
    condition of one that the user made: nothing like it has happened yet.

    Few actions are among them: what merely reads alike is self-knowledge, and there is enough of that.
    """
    taken, columns = {mind.row_of(habit.memory) for habit in habits}, mind.columns
    actions_left = _MOST_ACTIONS - sum(not line.habit.fired for line in habits)
    out = []
    for i, row in enumerate(rows):
        if columns.permanent[row] or row in taken or _is_condition(mind, row):
            continue
        if columns.kind[row] == _ACTION:
            if actions_left <= 0:
                continue
            actions_left -= 1
        out.append(i)
    return out


def _is_condition(mind: Mind, row: int) -> bool:
    columns = mind.columns
    by_hand = columns.kind[row] == _PATTERN and columns.origin[row] == _USER
    return bool(by_hand) and any(mind.edges.of(mind.id_at(row), EdgeKind.TRIGGERS))


def recalled_habit(
    mind: Mind, context: RecallContext, shown: HabitLine, age: int, language: str
) -> RecalledMemory:
    """The habit as the answer lists it, with what led to it."""
    habit, memory = shown.habit, shown.memory
    path = [(mind.memories[key], kind) for key, kind in habit.path]
    steps = [PathStep(m.id, label(m.text), kind.value if kind else None) for m, kind in path]
    if not habit.fired:
        cause, edge = Cause.HABIT, EdgeKind.KNOWS_HABIT
    else:
        cause = Cause.INTENT if habit.intent else Cause.SITUATION
        edge = EdgeKind.FIRES
    named = (habit.intent,) if habit.intent else tuple(m.text for m, _ in path)
    reason = Reason(cause, (), age, named)
    last = PathStep(memory.id, label(memory.text), edge.value if steps else None)
    return RecalledMemory(
        id=memory.id,
        kind=memory.kind.value,
        text=shown.line.text,
        score=round(0.5 + habit.share / 2, 9),
        hops=len(steps) + habit.fired,  # the trigger between is a step, too
        permanent=memory.permanent,
        fired=habit.fired,
        why=reason_sentence(reason, mind.soul.name, language),
        path=(*steps, last),
        sources=source_places(mind, memory, context.request.chat),
        age_turns=age,
        visibility=1.0,
    )


def label(text: str) -> str:
    """The text, cut to name a memory in a path."""
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"
