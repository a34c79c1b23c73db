"""How it is told what a language model cost, and what waits for one."""

from __future__ import annotations

from datetime import datetime

from soulmem.engine.llm.retry import Deferred
from soulmem.engine.llm.usage import Spent, UsageLimits
from soulmem.server.answers.common import Answer


class SpentAnswer(Answer, frozen=True):
    """What was spent so far; failed calls and repeated ones count as all others."""

    calls: int
    failed: int
    prompt_tokens: int
    answer_tokens: int
    seconds: float
    memories: int


class HourAnswer(Answer, frozen=True):
    """What Idle work may spend within an hour, for all souls together."""

    calls: int
    tokens: int
    memories: int
    minutes: float


class ParkedAnswer(Answer, frozen=True):
    """What a model could make nothing of: it is tried again by then, or when the chat has gone on."""

    chat: str
    work: str
    reason: str
    attempts: int
    again: datetime


class DueAnswer(Answer, frozen=True):
    """What the job `consolidate` would do now; `minutes` is null while no call was made to tell by."""

    calls: int
    minutes: float | None


class LedgerAnswer(Answer, frozen=True):
    """The books of a soul, by kind of work. `down` says why no model could be had when one was last asked."""

    totals: dict[str, SpentAnswer]
    this_hour: SpentAnswer
    most_an_hour: HourAnswer
    due: DueAnswer
    parked: list[ParkedAnswer]
    down: str | None


def spent_answer(spent: Spent) -> SpentAnswer:
    """One sum."""
    return SpentAnswer(
        calls=spent.calls,
        failed=spent.failed,
        prompt_tokens=spent.prompt_tokens,
        answer_tokens=spent.answer_tokens,
        seconds=round(spent.seconds, 3),
        memories=spent.nodes,
    )


def hour_answer(params: UsageLimits) -> HourAnswer:
    """The bounds."""
    return HourAnswer(
        calls=params.calls,
        tokens=params.tokens,
        memories=params.nodes,
        minutes=params.minutes,
    )


def parked_answer(parked: Deferred) -> ParkedAnswer:
    """What waits."""
    return ParkedAnswer(
        chat=parked.chat,
        work=parked.work.value,
        reason=parked.reason,
        attempts=parked.attempts,
        again=parked.again,
    )
