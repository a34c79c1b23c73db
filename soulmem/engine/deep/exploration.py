"""One exploration of a deep recall: a walk for one question, and the questions that its names lead to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.engine.api.requests import RecallMode, RecallRequest, RecallType
from soulmem.engine.api.results import Recalled, RecalledMemory, Trace
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.runtime.worker import compute_only

_TIME_BUDGET = 5000  # ms, for one exploration
MOST_ITEMS = 50  # of one recall; api
_SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class DeepQuestion:
    """What a deep recall is for; `chat` limits it to what that chat may know."""

    owner: Owner
    soul: SoulId
    text: str
    chat: ChatId | None = None
    language: str | None = None  # "en" or "zh", of the reasons; None: that of the scene


@dataclass(frozen=True, slots=True)
class AnswerRoom:
    """The most memories of an answer, and its tokens."""

    memories: int
    tokens: int


@dataclass(frozen=True, slots=True)
class NameQuestion:
    """A question about a name, the concept of that name, and the memory that led to it."""

    ask: str
    concept: MemoryId
    memory: MemoryId


@dataclass(frozen=True, slots=True)
class Exploration:
    """A question that was searched for on the way to answering `question`, the answer and its trace."""

    question: str
    ask: str
    answer: Recalled
    trace: Trace

    @property
    def memories(self) -> tuple[RecalledMemory, ...]:
        """What was recalled for the question, best first: without what every answer holds, without habits, and
        without the message that asked.
        """
        return tuple(
            memory
            for memory in self.answer.memories
            if not (memory.permanent or memory.fired or memory.kind == _SUMMARY)
            and not f": {memory.text}".endswith(f": {self.question}")
        )

    @property
    def always_shown(self) -> tuple[RecalledMemory, ...]:
        """The permanent memories of the answer, and the summary of the chat."""
        return tuple(
            memory for memory in self.answer.memories if memory.permanent or memory.kind == _SUMMARY
        )


async def explore(
    recaller: Recaller, question: DeepQuestion, ask: str, room: AnswerRoom
) -> Exploration:
    """Search for one question by a walk; nothing is withheld, nothing is learned."""
    request = RecallRequest(
        question.soul,
        chat=question.chat,
        query=ask,
        type=RecallType.QUIET,
        mode=RecallMode.WALK,
        restraint=0.0,
        max_items=room.memories,
        budget_tokens=room.tokens,
        time_budget_ms=_TIME_BUDGET,
        language=question.language,
    )
    answer = await recaller.recall(question.owner, request)
    trace = await recaller.trace(question.owner, answer.trace)
    return Exploration(question.text, ask, answer, trace)


@compute_only
def questions_by_names(
    mind: Mind,
    question: str,
    memories: Iterable[MemoryId],
    met: Collection[MemoryId],
) -> list[NameQuestion]:
    """Questions about the names that the memories lead to, in their order.

    `met` are concepts that were asked about. A memory leads from a name of the question or
    from one of `met` to the others in it; where there is no such name yet, every memory
    leads on. The question about a name is the question itself with the name in the place
    of those that it names.
    """
    named = mind.names.spot(question)
    known_names = {*named, *met}
    spelled = list(chain.from_iterable(map(mind.names.names_of, named)))
    out: dict[MemoryId, NameQuestion] = {}
    for memory in memories:
        row = mind.row(memory)
        if row is None:
            continue
        spotted = mind.names.spot(spoken(mind.memory_at(row)))
        if known_names and known_names.isdisjoint(spotted):
            continue
        for key in spotted:
            concept = mind.names.concept(key)
            if concept is not None and key not in known_names:
                ask = _about(question, spelled, concept.text)
                out.setdefault(key, NameQuestion(ask, key, memory))
    return list(out.values())


def _about(question: str, spelled: Sequence[str], name: str) -> str:
    """The question with `name` instead of the spelled names.

    The name comes first as well: what is remembered of it counts more than the wording
    of the question, which its memories need not share.
    """
    if spelled:
        longest_first = sorted(spelled, key=len, reverse=True)
        pattern = "|".join(map(_whole_name, longest_first))
        question = re.sub(pattern, lambda _: name, question, flags=re.IGNORECASE)
    return f"{name}: {question}"


def _whole_name(name: str) -> str:
    """A pattern of the name: in letters of an alphabet no part of a longer word."""
    pattern = re.escape(name)
    if name[0].isascii():
        pattern = rf"(?<!\w){pattern}"
    return rf"{pattern}(?!\w)" if name[-1].isascii() else pattern
