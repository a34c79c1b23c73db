"""One deep recall under way: explorations, and the questions that can be asked without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from soulmem.domain.ids import MemoryId
from soulmem.engine.deep.exploration import (
    AnswerRoom,
    DeepQuestion,
    Exploration,
    explore,
    questions_by_names,
)
from soulmem.engine.deep.progress import DeepProgress, Ending, StepKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.runtime.worker import Worker
from soulmem.language.questions import split_question


class OutOfTime(Exception):
    """The time of the job is over."""


@dataclass(kw_only=True, eq=False)
class DeepSearch:
    """Explores question by question until the `deadline` (time of the event loop).

    `room`: of each exploration
    """

    recaller: Recaller
    compute: Worker
    mind: Mind
    question: DeepQuestion
    room: AnswerRoom
    progress: DeepProgress
    deadline: float

    def __post_init__(self) -> None:
        self._met: set[MemoryId] = set()  # concepts that were asked about

    async def explore(self, ask: str) -> Exploration:
        """Search for one question. Raises OutOfTime, but not for the question of the job itself."""
        progress = self.progress
        loop = asyncio.get_running_loop()
        if progress.explorations and loop.time() >= self.deadline:
            raise OutOfTime
        exploration = await explore(self.recaller, self.question, ask, self.room)
        progress.explorations.append(exploration)
        found = [memory.id for memory in exploration.memories]
        progress.add(StepKind.EXPLORE, ask, found)
        return exploration

    async def by_walks(self) -> Ending:
        """Explore the parts of the question, then the names that turn up. Raises OutOfTime."""
        progress, question = self.progress, self.question.text
        asks = await self.parts()
        if asks:
            progress.add(StepKind.PLAN, question)
        asks = asks or await self.next_by_names()
        while asks and progress.may_explore:
            before = progress.found.keys()
            exploration = await self.explore(asks[0])
            if all(memory.id in before for memory in exploration.memories):
                progress.go_back(question, [exploration.ask])
            else:
                progress.trail.append(exploration.ask)
            asks = asks[1:] or await self.next_by_names()
        return Ending.EXHAUSTED

    async def parts(self) -> list[str]:
        """The parts of a question that asks for several things, but for those that were searched for."""
        return self.new(await self.compute.run(split_question, self.question.text))

    async def next_by_names(self) -> list[str]:
        """The question about the first name that turned up and was not asked about, or none.

        The memory that led to the name counts as useful.
        """
        questions = await self.compute.run(
            questions_by_names,
            self.mind,
            self.question.text,
            list(self.progress.found),
            self._met,
        )
        for question in questions:
            self._met.add(question.concept)
            if self.new([question.ask]):
                self.progress.point_at([question.memory])
                return [question.ask]
        return []

    def new(self, asks: Sequence[str], shown: Iterable[str] = ()) -> list[str]:
        """Those questions that were not searched for yet, whatever their case and spacing.

        Small models repeat what they read: texts that were `shown` are no questions.
        """
        asked = set(map(_folded, (*self.progress.asked, *shown)))
        return [ask for ask in asks if _folded(ask) not in asked]


def _folded(ask: str) -> str:
    return "".join(ask.split()).casefold()
