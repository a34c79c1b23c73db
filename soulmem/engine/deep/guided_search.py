"""A deep recall that a language model guides: it plans, and reflects on what each exploration brought."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.deep.advisor import Advisor
from soulmem.engine.deep.exploration import Exploration
from soulmem.engine.deep.progress import Ending, StepKind
from soulmem.engine.deep.search import DeepSearch
from soulmem.prompts.deep import Decision, Reflection

# What the model reads in one call: some 20 short lines, for models with a small context.
_PLANNED = 8  # memories before the plan
_EXPLORED = 4  # new memories of each exploration
_USEFUL = 6  # memories that it pointed at before
_CHARACTERS = 300  # of a memory


class GuidedSearch:
    """Follows the decisions of the model. An unreadable answer is replaced by a question of the rules."""

    def __init__(self, search: DeepSearch, advisor: Advisor) -> None:
        self._search = search
        self._advisor = advisor

    async def run(self) -> Ending | None:
        """Plan, explore and reflect; None where the model could not be called any more. Raises OutOfTime."""
        asks, ending = await self._plan()
        while asks:
            latest = await self._explore(asks)
            if self._advisor.failure is not None:
                return None
            if not (latest and self._advisor.may_ask):
                return Ending.CALLS
            asks, ending = await self._reflect(latest)
        return None if self._advisor.failure is not None else ending

    async def _explore(self, asks: Iterable[str]) -> list[Exploration]:
        latest = []
        for ask in asks:
            if self._search.progress.may_explore:
                latest.append(await self._search.explore(ask))
        return latest

    async def _plan(self) -> tuple[list[str], Ending]:
        """The first questions, and the ending where there is none. Raises OutOfTime."""
        search, progress = self._search, self._search.progress
        question = search.question.text
        first = progress.explorations[0].memories[:_PLANNED]
        shown = self._lines(first)
        calls = self._advisor.calls
        plan = await self._advisor.plan(
            question, search.mind.soul.name, list(shown.values())
        )
        useful = _numbered(list(shown), plan.useful) if plan else []
        progress.point_at(useful)
        calls = self._advisor.calls - calls
        progress.add(StepKind.PLAN, question, useful, calls)
        if plan is not None and not plan.questions:
            return [], Ending.ENOUGH
        if plan is None:
            new = await search.parts()
        else:
            new = search.new(plan.questions, shown.values())
        return new or await search.next_by_names(), Ending.EXHAUSTED

    async def _reflect(self, latest: Sequence[Exploration]) -> tuple[list[str], Ending]:
        """The next question, and the ending where there is none. Raises OutOfTime."""
        search, progress = self._search, self._search.progress
        shown = self._shown(latest)
        asks = [exploration.ask for exploration in latest]
        calls = self._advisor.calls
        reflection = await self._advisor.reflect(
            search.question.text,
            search.mind.soul.name,
            progress.asked[1:],
            list(shown.values()),
        )
        useful = _numbered(list(shown), reflection.useful) if reflection else []
        progress.point_at(useful)
        calls = self._advisor.calls - calls
        progress.add(StepKind.REFLECT, asks[-1], useful, calls)
        return await self._decided(reflection, asks, shown.values())

    async def _decided(
        self,
        reflection: Reflection | None,
        asks: Sequence[str],
        shown: Iterable[str],
    ) -> tuple[list[str], Ending]:
        """What follows from the reflection on these questions; without one the next name is asked about."""
        search, progress = self._search, self._search.progress
        if reflection is not None and reflection.decision is Decision.ENOUGH:
            return [], Ending.ENOUGH
        if reflection is not None and reflection.decision is Decision.BACK:
            progress.go_back(search.question.text, asks)
        else:
            progress.trail.append(asks[-1])
        ask = reflection.ask if reflection is not None else None
        new = search.new([ask], shown) if ask is not None else []
        return new or await search.next_by_names(), Ending.EXHAUSTED

    def _shown(self, latest: Sequence[Exploration]) -> dict[MemoryId, str]:
        """What the model reads: the memories that it pointed at, then the best of the latest explorations."""
        progress = self._search.progress
        useful = [progress.found[key] for key in progress.useful]
        shown = self._lines(useful[-_USEFUL:])
        for exploration in latest:
            new = [m for m in exploration.memories if m.id not in shown]
            shown |= self._lines(new[:_EXPLORED])
        return shown

    def _lines(self, memories: Iterable[RecalledMemory]) -> dict[MemoryId, str]:
        """The memories as lines of a prompt."""
        most = _CHARACTERS
        return {
            m.id: m.text if len(m.text) <= most else m.text[:most] + "…"
            for m in memories
        }


def _numbered(keys: Sequence[MemoryId], numbers: Sequence[int]) -> list[MemoryId]:
    """The memories of these numbers, from 1."""
    return [keys[number - 1] for number in numbers]
