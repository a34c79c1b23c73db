"""The job `quiz`: questions made of a soul's own memories, and at which place each would be recalled.

No language model is needed: a question is a sentence with its rarest words left out. The recalls are
previews, so the quiz teaches nothing, and what is asked is not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from soulmem.conversation.episodes import said
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.phrases import phrase
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.views.doubted import rows_in_doubt
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.association import MEMORY_KINDS
from soulmem.retrieval.quiz_questions import QuizQuestion, quiz_question

_COUNT, _MOST = 10, 50  # questions
_TRIES = 6  # memories looked at for each question
_TIME_BUDGET = 5000  # ms, of one recall
_ASKED_KINDS = [
    MEMORY_KINDS.index(kind) for kind in (MemoryKind.EPISODE, MemoryKind.NOTE)
]


@dataclass(kw_only=True, eq=False)
class Quiz:
    """Registers the job `quiz`. Its result has `asked` and `score`."""

    services: Services
    recaller: Recaller
    recall: RecallParams

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (
            JobKind(
                "quiz",
                self._work,
                arguments=("count", "chat"),
                only_reads=True,
                check=_checked,
            ),
        )

    async def _work(self, run: JobRun) -> dict[str, Any]:
        count, chat = _checked(run.arguments)
        run.report(0, count, "questions")
        world = await self.services.world_of(run.owner)
        if chat is not None:
            await world.log(world.head(chat).id)
        mind = await world.mind(run.soul)
        questions = await self.services.compute.run(
            _questions, world, mind, chat, count, self.services.clock.extra_turns
        )
        top = mind.soul.settings.max_items or self.recall.max_items
        asked: list[dict[str, Any]] = []
        for memory, question in questions:
            run.report(len(asked), len(questions), "questions")
            rank = await self._rank(run, chat, memory, question.question)
            asked.append(
                {
                    "memory": memory,
                    "question": question.question,
                    "answer": question.answer,
                    "rank": rank,
                }
            )
        run.report(len(asked), len(asked), "questions")
        right = sum(q["rank"] is not None and q["rank"] <= top for q in asked)
        return {"asked": asked, "score": right / len(asked) if asked else 0.0}

    async def _rank(
        self, run: JobRun, chat: ChatId | None, memory: MemoryId, question: str
    ) -> int | None:
        """The place of the memory among what is recalled for the question, from 1; None if it is not."""
        request = RecallRequest(
            run.soul,
            chat=chat,
            query=question,
            type=RecallType.PREVIEW,
            time_budget_ms=_TIME_BUDGET,
        )
        answer = await self.recaller.recall(run.owner, request)
        ids = [recalled.id for recalled in answer.memories]
        return ids.index(memory) + 1 if memory in ids else None


@compute_only
def _questions(
    world: World, mind: Mind, chat: ChatId | None, count: int, extra: int
) -> list[tuple[MemoryId, QuizQuestion]]:
    """At most `count` questions about memories of all times, the oldest first.

    They are the same as long as the soul lives no further exchange.
    """
    family = world.family(chat) if chat is not None else None
    visible = mind.visible_rows(chat, family, world.holds)
    visible[rows_in_doubt(mind)] = False
    if chat is not None:
        visible[mind.opinions.kept_out(chat)] = False
    kinds = np.isin(mind.columns.kind[: visible.size], _ASKED_KINDS)
    rows = np.flatnonzero(visible & kinds & mind.columns.searched[: visible.size])
    rows = rows[np.lexsort((rows, mind.columns.happened[rows]))]
    draw = Random(f"{mind.soul.id}:{mind.lived_turns(extra)}")
    out: list[tuple[MemoryId, QuizQuestion]] = []
    for span in np.array_split(rows, min(count, rows.size) or 1):
        for row in draw.sample(span.tolist(), min(_TRIES, span.size)):
            memory = mind.memory_at(row)
            question = _question(mind, memory)
            if question is not None:
                out.append((memory.id, question))
                break
    return out


def _question(mind: Mind, memory: Memory) -> QuizQuestion | None:
    keys = (term.key for term in memory.terms)
    return quiz_question(said(memory), keys, lambda key: _frequency(mind, key))


def _frequency(mind: Mind, key: str) -> int:
    """In how many memories the rarest token of a word occurs."""
    counts = map(mind.words.frequency, mind.tokeniser.tokens(key))
    return min(counts, default=len(mind.words))


def _checked(arguments: Mapping[str, Any]) -> tuple[int, ChatId | None]:
    """Number of questions and chat. Raises Unprocessable for what is neither."""
    count, chat = arguments.get("count", _COUNT), arguments.get("chat")
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST:
        raise Unprocessable(
            phrase(
                "quiz_count",
                "a quiz has 1 to {most} questions, not {count}",
                most=_MOST,
                count=repr(count),
            ),
            field="arguments.count",
        )
    if chat is not None and not isinstance(chat, str):
        raise Unprocessable(
            phrase("chat_by_id", "a chat is named by its id"), field="arguments.chat"
        )
    return count, None if chat is None else ChatId(chat)
