"""The job `quiz`: questions made of a soul's own memories, and at which place each would be recalled.

No language model is needed: what is known of people is asked for as a player would, the rest by a sentence with
its rarest words left out, and one question is about somebody unknown. The recalls are previews, so the quiz
teaches nothing, and what is asked is not stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
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
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import rows_in_doubt
from soulmem.engine.views.known import main_listener, quoted_rows, readings, settled
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.language.gists import gist_language, topic_of
from soulmem.language.grammars import ENGLISH_CODE
from soulmem.language.scripts import is_unspaced
from soulmem.language.segmentation import sentences
from soulmem.language.word_lists import tables

GAP = "___"

_FEWEST = 3  # words that say something: two to ask with, one to leave out
_MANY = 5  # of so many words two are left out
_LONGEST = 240  # characters of a sentence
_ENDING = r"\w{0,2}"  # of a word in the text that its base form lacks: houses, played

_LANGUAGES = (ENGLISH_CODE, "zh")  # with forms of a question

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class QuizQuestion:
    """A sentence with gaps, and the words that were there."""

    question: str
    answer: str


def quiz_question(
    text: str, keys: Iterable[str], frequency: Callable[[str], int]
) -> QuizQuestion | None:
    """A question about the text; None where no sentence says enough.

    keys       words that the text is about, in their base form, lower case
    frequency  in how many memories a word occurs
    """
    rarest_first = sorted(keys, key=lambda key: (frequency(key), key))
    asked = [_with_gaps(sentence, rarest_first) for sentence in sentences(text)]
    usable = [entry for entry in asked if entry is not None]
    return max(usable, key=lambda entry: entry[0])[1] if usable else None


def _with_gaps(sentence: str, rarest_first: Iterable[str]) -> tuple[int, QuizQuestion] | None:
    """How much the sentence says, and the question; None where that is too little."""
    if len(sentence) > _LONGEST:
        return None
    words: list[list[Span]] = []  # the places of each
    taken: list[Span] = []
    for key in rarest_first:
        places = list(_places(sentence, key))
        if places and not any(_overlap(a, b) for a in places for b in taken):
            words.append(places)
            taken += places
    if len(words) < _FEWEST:
        return None
    gaps = sorted(chain.from_iterable(words[: 1 + (len(words) >= _MANY)]))
    answers: dict[str, str] = {}
    for start, stop in gaps:
        answers.setdefault(sentence[start:stop].casefold(), sentence[start:stop])
    question = sentence
    for start, stop in reversed(gaps):
        question = f"{question[:start]}{GAP}{question[stop:]}"
    return len(words), QuizQuestion(question, " … ".join(answers.values()))


def _places(sentence: str, key: str) -> Iterator[Span]:
    """Where the sentence has the word, in any case and with a short ending."""
    pattern = re.escape(key)
    if not is_unspaced(key):
        pattern = rf"(?<!\w){pattern}{_ENDING}(?!\w)"
    for match in re.finditer(pattern, sentence, re.IGNORECASE):
        yield match.span()


def _overlap(first: Span, second: Span) -> bool:
    return first[0] < second[1] and second[0] < first[1]


def question_about(
    quote: str, speaker: str, *, is_promise: bool, soul: str, player: str
) -> str | None:
    """A question that the quote answers, in its language; None where it is about nothing, or in another one.

    speaker  who says the quote, `soul` and `player` to each other
    """
    language, topic = gist_language(quote), topic_of(quote)
    if language not in _LANGUAGES or not topic:
        return None
    by = {soul: "yours", player: "mine"}.get(speaker, "others")
    form = f"promise_{by}" if is_promise else by
    if language == ENGLISH_CODE and topic[0].islower():
        topic = f"the {topic}"
    question: str = _forms(language)[form].format(topic=topic, who=speaker or player)
    return question


def question_about_nobody(language: str, is_known: Callable[[str], bool]) -> str | None:
    """A question about somebody of whom nothing can be known; None where all of the names are known."""
    forms = _forms(language if language in _LANGUAGES else _LANGUAGES[0])
    name = next((name for name in forms["strangers"] if not is_known(name)), None)
    return None if name is None else str(forms["never"].format(name=name))


def _forms(language: str) -> Any:
    return tables(language)["player_questions"]


_COUNT, _MOST = 10, 50  # questions
_PLAIN = 0.6  # of the questions at most are about what is known of people
_KNOWN = 60  # messages that tell such things, the latest: a recall waits while they are read
_TRIES = 6  # memories looked at for each question
_TIME_BUDGET = 5000  # ms, of one recall
_ASKED_KINDS = [MEMORY_KINDS.index(kind) for kind in (MemoryKind.EPISODE, MemoryKind.NOTE)]


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

    async def _told(self, run: JobRun, chat: ChatId | None, question: str) -> list[MemoryId]:
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


def _plain_questions(mind: Mind, visible: Sequence[int]) -> Iterator[tuple[MemoryId, QuizQuestion]]:
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
def _about_nobody(mind: Mind, questions: Sequence[tuple[MemoryId, QuizQuestion]]) -> str | None:
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
