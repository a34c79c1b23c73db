"""How habits stand in an answer: what fires is an impulse, what the soul knows of itself self-knowledge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from soulmem.assembly.compose import Budget, PromptLine, line_of
from soulmem.assembly.why import Cause, Reason, reason_sentence
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.api.results import PathStep, RecalledMemory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.habits import Habit
from soulmem.engine.recall.scene import Scene
from soulmem.engine.views.provenance import sources
from soulmem.graph.association import MEMORY_KINDS

_ACTION = MEMORY_KINDS.index(MemoryKind.ACTION)
_LABEL = 40  # characters of a memory that name it in a path
_MOST_KNOWN = (
    3  # habits a soul is reminded of at once: they are beside the point of most talk
)


@dataclass(frozen=True, slots=True)
class Told:
    """A habit that is in the answer."""

    habit: Habit
    memory: Memory
    line: PromptLine


def take_habits(
    mind: Mind,
    habits: Sequence[Habit],
    permanent: Collection[MemoryId],
    budget: Budget,
    most: int,
) -> list[Told]:
    """The habits that fit, at most `most`; one that always stands in the prompt is told there unless it
    fires.
    """
    out: list[Told] = []
    for habit in habits:
        if not habit.fired and habit.action in permanent:
            continue
        memory = mind.memories[habit.action]
        line = line_of(memory, fired=habit.fired)
        if len(out) < most and budget.take(line):
            out.append(Told(habit, memory, line))
    return out


def others(mind: Mind, rows: Sequence[int], told: Sequence[Told]) -> list[int]:
    """Places in `rows`, best first, of the candidates that are neither permanent nor told.

    Few actions are among them: what merely reads alike is self-knowledge, and there is enough of that.
    """
    done, columns = {mind.row_of(one.memory) for one in told}, mind.columns
    room = _MOST_KNOWN - sum(not one.habit.fired for one in told)
    out = []
    for i, row in enumerate(rows):
        if columns.permanent[row] or row in done:
            continue
        if columns.kind[row] == _ACTION:
            if room <= 0:
                continue
            room -= 1
        out.append(i)
    return out


def recalled_habit(
    mind: Mind, scene: Scene, told: Told, age: int, language: str
) -> RecalledMemory:
    """The habit as it is told, with what led to it."""
    habit, memory = told.habit, told.memory
    way = [(mind.memories[key], kind) for key, kind in habit.way]
    steps = [
        PathStep(m.id, label(m.text), kind.value if kind else None) for m, kind in way
    ]
    if not habit.fired:
        cause, edge = Cause.HABIT, EdgeKind.KNOWS_HABIT
    else:
        cause, edge = (
            (Cause.INTENT if habit.intent else Cause.SITUATION),
            EdgeKind.FIRES,
        )
    named = (habit.intent,) if habit.intent else tuple(m.text for m, _ in way)
    reason = Reason(cause, (), age, named)
    return RecalledMemory(
        id=memory.id,
        kind=memory.kind.value,
        text=told.line.text,
        score=round(0.5 + habit.share / 2, 9),
        hops=len(steps) + habit.fired,  # the trigger between is a step, too
        permanent=memory.permanent,
        fired=habit.fired,
        why=reason_sentence(reason, mind.soul.name, language),
        path=(
            *steps,
            PathStep(memory.id, label(memory.text), edge.value if steps else None),
        ),
        sources=sources(mind, memory, scene.request.chat),
        age_turns=age,
        visibility=1.0,
    )


def label(text: str) -> str:
    """A memory's name in a path."""
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"
