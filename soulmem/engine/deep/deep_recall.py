"""The job `deep`: a recall that takes its time. It plans, explores, reflects and goes back.

With a language model, a plan splits the question, and after each exploration the model
says whether that is enough, leads on, or led nowhere. Without one, the parts of the
question and the names that turn up on the way are explored by walks. Nothing is learned
from it, and no normal recall waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.phrases import phrase
from soulmem.engine.api.results import Recalled, RecalledMemory, Trace
from soulmem.engine.deep.advisor import Advisor
from soulmem.engine.deep.exploration import (
    MOST_ITEMS,
    AnswerRoom,
    DeepQuestion,
    Exploration,
)
from soulmem.engine.deep.progress import DeepProgress, Ending, StepKind
from soulmem.engine.deep.search import DeepSearch, OutOfTime
from soulmem.engine.deep.union import answer_fields, unite
from soulmem.engine.llm.calls import LlmCalls, LlmTask
from soulmem.engine.llm.usage import DEEP
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.world.services import Services
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
        plan = await self._advisor.plan(question, search.mind.soul.name, list(shown.values()))
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
        return {m.id: m.text if len(m.text) <= most else m.text[:most] + "…" for m in memories}


def _numbered(keys: Sequence[MemoryId], numbers: Sequence[int]) -> list[MemoryId]:
    """The memories of these numbers, from 1."""
    return [keys[number - 1] for number in numbers]


_LONGEST = 2000  # characters of a question


@dataclass(frozen=True, slots=True)
class DeepParams:
    """Limits of one job."""

    calls: int = 6  # of the model; design 4.3
    seconds: float = 60.0  # design 4.3
    explorations: int = 10
    # Recalls whose room an exploration and the answer may take: the question's own
    # memories, and as many from the way. An answer takes one when the model has
    # pointed at what it finds enough.
    room: int = 2


@dataclass(kw_only=True, eq=False)
class DeepRecall:
    """Registers the job `deep`. Its result has `answer` (as a recall), `steps`, `calls` and `ended`."""

    services: Services
    recaller: Recaller
    llm_calls: LlmCalls
    recall: RecallParams
    params: DeepParams = DeepParams()

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (
            JobKind(
                "deep",
                self._work,
                arguments=("query", "chat", "language"),
                only_reads=True,
                check=_checked_query,
            ),
        )

    async def _work(self, run: JobRun) -> dict[str, Any]:
        world = await self.services.world_of(run.owner)
        chat = run.arguments.get("chat")
        question = DeepQuestion(
            owner=run.owner,
            soul=run.soul,
            text=_checked_query(run.arguments),
            chat=None if chat is None else ChatId(chat),
            language=run.arguments.get("language"),
        )
        progress = DeepProgress(run, explorations=self.params.explorations)
        progress.report()
        mind = await world.mind(run.soul)
        room = self._room(mind, self.params.room)
        deadline = asyncio.get_running_loop().time() + self.params.seconds
        search = DeepSearch(
            recaller=self.recaller,
            compute=self.services.compute,
            mind=mind,
            question=question,
            room=room,
            progress=progress,
            deadline=deadline,
        )
        advisor = Advisor(
            llm_calls=self.llm_calls,
            task=LlmTask(
                run.owner,
                run.soul,
                DEEP,
                lambda _done, _total, _unit: progress.report(),
            ),
            calls=self.params.calls,
            deadline=deadline,
            is_wanted=progress.report,
        )
        ending = await _searched(search, advisor)
        if ending is Ending.ENOUGH and progress.useful:
            room = self._room(mind, 1)
        answer = await self._answer(search, room, ending)
        failure = advisor.failure
        return {
            "answer": answer_fields(answer),
            "steps": progress.step_fields(),
            "calls": advisor.calls,
            "ended": ending.value,
            "failure": failure.message if failure else None,
            "failure_kind": failure.kind.value if failure else None,
        }

    def _room(self, mind: Mind, times: int) -> AnswerRoom:
        """The room of so many recalls."""
        settings = mind.soul.settings
        memories = settings.max_items or self.recall.max_items
        tokens = settings.budget_tokens or self.recall.budget_tokens
        return AnswerRoom(min(MOST_ITEMS, times * memories), times * tokens)

    async def _answer(self, search: DeepSearch, room: AnswerRoom, ending: Ending) -> Recalled:
        """The answer, its trace kept."""
        progress, question = search.progress, search.question
        answer, considered = await self.services.compute.run(
            unite,
            search.mind,
            progress.explorations,
            progress.useful,
            progress.dropped,
            room,
            question.language,
        )
        first = progress.explorations[0].trace
        share = 1 / len(progress.explorations)
        steps = progress.step_fields()
        trace = Trace(
            id=answer.trace,
            at=self.services.clock.now(),
            soul=question.soul,
            chat=question.chat,
            query=tuple((ask, share) for ask in progress.asked),
            type=first.type,
            grade="deep",
            grade_why=_grade_why(progress, ending),
            seeds=first.seeds,
            guidance={**first.guidance, "mode": "deep", "steps": steps},
            considered=considered,
            answer=answer,
            notes=first.notes,
            grades=first.grades,
        )
        self.recaller.traces.keep(question.owner, trace)
        return answer


async def _searched(search: DeepSearch, advisor: Advisor) -> Ending:
    """Explore until there is an end: guided by the model as long as there is one."""
    await search.explore(search.question.text)
    ending = None
    try:
        if advisor.may_ask:
            ending = await GuidedSearch(search, advisor).run()
        return ending or await search.by_walks()
    except OutOfTime:
        return Ending.TIME


def _checked_query(arguments: Mapping[str, Any]) -> str:
    """The question of the job. Raises Unprocessable for other arguments than it takes."""
    query, chat = arguments.get("query"), arguments.get("chat")
    language = arguments.get("language")
    text = query.strip() if isinstance(query, str) else ""
    if not 0 < len(text) <= _LONGEST:
        raise Unprocessable(
            phrase(
                "deep_question",
                "a deep recall needs a question of 1 to {longest} characters",
                longest=f"{_LONGEST:,}",
            ),
            field="arguments.query",
        )
    if chat is not None and not isinstance(chat, str):
        raise Unprocessable(
            phrase("chat_by_id", "a chat is named by its id"), field="arguments.chat"
        )
    if language not in (None, "en", "zh"):
        raise Unprocessable(
            phrase("reason_languages", "reasons are there in en and zh"),
            field="arguments.language",
        )
    return text


def _grade_why(progress: DeepProgress, ending: Ending) -> str:
    """What was done, as a sentence of the trace."""
    why = {
        Ending.ENOUGH: "that was enough",
        Ending.EXHAUSTED: "there was nothing more to ask",
        Ending.CALLS: "then no further step was allowed",
        Ending.TIME: "then time was over",
    }[ending]
    explored = len(progress.explorations)
    return f"{explored} questions explored, {progress.calls} calls of a language model; {why}"
