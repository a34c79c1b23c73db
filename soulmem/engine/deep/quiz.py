"""The job `quiz`: questions made of a soul's own memories, and at which place each would be recalled.

No language model is needed: what is known of people is asked for as a player would, the rest by a sentence with
its rarest words left out, and one question is about somebody unknown. The recalls are previews, so the quiz
teaches nothing, and what is asked is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from soulmem.conversation.episodes import spoken
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
from soulmem.engine.views.known import main_listener, quoted_rows, readings, settled
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.association import MEMORY_KINDS
from soulmem.language.gists import gist_language
from soulmem.retrieval.quiz_questions import (
    QuizQuestion,
    question_about,
    question_about_nobody,
    quiz_question,
)

_COUNT, _MOST = 10, 50  # questions
_PLAIN = 0.6  # of the questions at most are about what is known of people
_KNOWN = (
    60  # messages that tell such things, the latest: a recall waits while they are read
)
_TRIES = 6  # memories looked at for each question
_TIME_BUDGET = 5000  # ms, of one recall
_ASKED_KINDS = [
    MEMORY_KINDS.index(kind) for kind in (MemoryKind.EPISODE, MemoryKind.NOTE)
]


@dataclass(kw_only=True, eq=False)
class Quiz:
    """Registers the job `quiz`.

    Its result has `asked`, `score`, and `never`: a question about somebody unknown, with what it brings.
    """

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
            told = await self._told(run, chat, question.question)
            asked.append(
                {
                    "memory": memory,
                    "question": question.question,
                    "answer": question.answer,
                    "rank": told.index(memory) + 1 if memory in told else None,
                    "told": len(told),
                }
            )
        nobody = await self.services.compute.run(_about_nobody, mind, questions)
        never = []
        if nobody is not None:
            told = await self._told(run, chat, nobody)
            never.append({"question": nobody, "told": len(told)})
        run.report(len(asked), len(asked), "questions")
        right = sum(q["rank"] is not None and q["rank"] <= top for q in asked)
        score = right / len(asked) if asked else 0.0
        return {"asked": asked, "score": score, "never": never}

    async def _told(
        self, run: JobRun, chat: ChatId | None, question: str
    ) -> list[MemoryId]:
        """What is recalled for the question, the best first."""
        request = RecallRequest(
            run.soul,
            chat=chat,
            query=question,
            type=RecallType.PREVIEW,
            time_budget_ms=_TIME_BUDGET,
        )
        answer = await self.recaller.recall(run.owner, request)
        return [recalled.id for recalled in answer.memories]


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
    draw = Random(f"{mind.soul.id}:{mind.lived_turns(extra)}")
    plain = {key: question for key, question in _plain_questions(mind, rows.tolist())}
    most = min(int(_PLAIN * count), len(plain))
    out = [(key, plain[key]) for key in draw.sample(sorted(plain), most)]
    rows = rows[~np.isin(mind.ids_at(rows.tolist()), [key for key, _ in out])]
    rows = rows[np.lexsort((rows, mind.columns.happened[rows]))]
    for span in np.array_split(rows, min(count - len(out), rows.size) or 1):
        for row in draw.sample(span.tolist(), min(_TRIES, span.size)):
            memory = mind.memory_at(row)
            question = _question(mind, memory)
            if question is not None:
                out.append((memory.id, question))
                break
    return out


def _plain_questions(
    mind: Mind, visible: Sequence[int]
) -> Iterator[tuple[MemoryId, QuizQuestion]]:
    """Questions about what is known of people by these rows, as a player asks."""
    known = quoted_rows(mind)
    player, soul = main_listener(mind, known), mind.soul.name
    rows = sorted({*known[-_KNOWN:]} & {*visible})
    for thing in settled(readings(mind, rows, player)):
        if thing.until is not None:
            continue
        question = question_about(
            thing.quote,
            thing.speaker,
            is_promise=thing.told_as == "promise",
            soul=soul,
            player=player,
        )
        if question is not None:
            yield thing.memory, QuizQuestion(question, thing.quote)


@compute_only
def _about_nobody(
    mind: Mind, questions: Sequence[tuple[MemoryId, QuizQuestion]]
) -> str | None:
    """A question about somebody of whom the soul has never heard, in the language of these; None without any."""
    texts = (question.answer for _, question in questions)
    language = next(filter(None, map(gist_language, texts)), None)
    if language is None:
        return None
    tokens = mind.tokeniser.tokens
    return question_about_nobody(
        language, lambda name: any(map(mind.words.frequency, tokens(name)))
    )


def _question(mind: Mind, memory: Memory) -> QuizQuestion | None:
    keys = (term.key for term in memory.terms)
    return quiz_question(spoken(memory), keys, lambda key: _frequency(mind, key))


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
