"""What a deep recall has done so far: its steps, as the result of its job shows them while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.deep.exploration import Exploration
from soulmem.engine.runtime.jobs import JobRun


class StepKind(str, Enum):
    """The kinds of steps."""

    PLAN = "plan"
    EXPLORE = "explore"
    REFLECT = "reflect"
    BACK = "back"


class Ending(str, Enum):
    """Why no further step was made."""

    ENOUGH = "enough"  # the model says so
    EXHAUSTED = "exhausted"  # there is no further question
    CALLS = "calls"  # the model may not be called again
    TIME = "time"


@dataclass(frozen=True, slots=True)
class DeepStep:
    """One step. `found`: memories that it brought or pointed at; `calls` of the model that it took."""

    kind: StepKind
    ask: str
    found: tuple[MemoryId, ...] = ()
    calls: int = 0

    def fields(self) -> dict[str, Any]:
        """The step as JSON values."""
        return {
            "step": self.kind.value,
            "ask": self.ask,
            "found": list(self.found),
            "calls": self.calls,
        }


class DeepProgress:
    """The steps and explorations of one job, shown as they come."""

    def __init__(self, run: JobRun, *, explorations: int) -> None:
        """`explorations`: how many there are at most"""
        self._run = run
        self._most = explorations
        self.steps: list[DeepStep] = []
        self.explorations: list[Exploration] = []
        self.useful: list[MemoryId] = []  # that the model pointed at, in its order
        self.dropped: set[str] = set()  # questions that led nowhere
        self.trail: list[str] = []  # questions that led on

    @property
    def asked(self) -> list[str]:
        """The questions that were searched for, in their order."""
        return [exploration.ask for exploration in self.explorations]

    @property
    def found(self) -> dict[MemoryId, RecalledMemory]:
        """The memories that were found so far; of questions that led nowhere the useful ones."""
        out: dict[MemoryId, RecalledMemory] = {}
        for exploration in self.explorations:
            led_on = exploration.ask not in self.dropped
            for memory in exploration.memories:
                if led_on or memory.id in self.useful:
                    out.setdefault(memory.id, memory)
        return out

    @property
    def calls(self) -> int:
        """Calls of the model in all steps."""
        return sum(step.calls for step in self.steps)

    @property
    def may_explore(self) -> bool:
        """Whether a further exploration is allowed."""
        return len(self.explorations) < self._most

    def add(
        self,
        kind: StepKind,
        ask: str,
        found: Iterable[MemoryId] = (),
        calls: int = 0,
    ) -> None:
        """Add a step and show it. Raises what ends a cancelled job."""
        self.steps.append(DeepStep(kind, ask, tuple(found), calls))
        self._run.result_so_far = {
            "answer": None,
            "steps": self.step_fields(),
            "calls": self.calls,
        }
        self.report()

    def report(self) -> None:
        """Report the progress. Raises what ends a cancelled job."""
        self._run.report(len(self.explorations), self._most, "questions")

    def point_at(self, memories: Sequence[MemoryId]) -> None:
        """Note that the model finds these useful."""
        self.useful += [memory for memory in memories if memory not in self.useful]

    def go_back(self, question: str, dropped: Iterable[str]) -> None:
        """Drop questions that led nowhere, and return to the last one that led on, or else to the `question`."""
        self.dropped.update(dropped)
        self.add(StepKind.BACK, self.trail[-1] if self.trail else question)

    def step_fields(self) -> list[dict[str, Any]]:
        """The steps as JSON values."""
        return [step.fields() for step in self.steps]
