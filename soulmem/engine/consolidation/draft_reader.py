"""Asks a model for the summary or the drafts of a passage, and reads them as far as the model is trusted.

In idle time a model that was not asked its six questions yet is asked them after its first answer, and one
that passed them checks its doubtful drafts. A job makes only the calls whose price the user accepted.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from soulmem.domain.drafts import DraftEpisode, DraftFact, Drafts, DraftSummary, Passage
from soulmem.domain.llm import LlmFailed
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.llm.trust import USAGE_KIND, ModelTrust, ask_questions
from soulmem.language.scripts import is_unspaced
from soulmem.prompts import checking, extraction, summary
from soulmem.prompts.summary import grounded_summary

_SURE = 0.8  # confidence from which a draft needs no check
_MOST = 8  # drafts checked in one call
_SHARE = 0.5  # of the doubt, or of the confidence, that an answer takes away


async def checked(
    llm_calls: LlmCalls,
    trust: ModelTrust,
    task: LlmTask,
    passage: Passage,
    drafts: Drafts,
) -> Drafts:
    """The drafts after one call that checks the doubtful ones; as they are where the model cannot, or may not."""
    doubtful = _doubtful(drafts)
    if not doubtful or not trust.is_high(task.owner, task.model):
        return drafts
    statements = [statement_of(draft) for draft in doubtful]
    attempts, task.attempts = task.attempts, 1
    try:
        answers = await llm_calls.ask(
            task,
            checking.render(passage, statements),
            partial(checking.parse, count=len(statements)),
        )
    except (LlmFailed, LlmInterrupted):
        return drafts
    finally:
        task.attempts = attempts
    return with_answers(drafts, doubtful, answers)


def statement_of(draft: DraftEpisode | DraftFact) -> str:
    """The draft as a sentence."""
    if isinstance(draft, DraftEpisode):
        return draft.text
    parts = draft.subject, draft.verb, draft.object
    return ("" if is_unspaced("".join(parts)) else " ").join(parts)


def with_answers(
    drafts: Drafts,
    doubtful: Sequence[DraftEpisode | DraftFact],
    answers: Sequence[int],
) -> Drafts:
    """The drafts with the confidence that the answers leave: for each doubtful one its line, or 0."""
    found = dict(zip(map(id, doubtful), answers, strict=True))

    def confidence(draft: DraftEpisode | DraftFact) -> float:
        line = found.get(id(draft))
        if line is None:
            return draft.confidence
        if line in draft.lines:
            return 1.0 - (1.0 - _SHARE) * (1.0 - draft.confidence)
        return draft.confidence if line else _SHARE * draft.confidence

    return replace(
        drafts,
        episodes=tuple(replace(d, confidence=confidence(d)) for d in drafts.episodes),
        facts=tuple(replace(d, confidence=confidence(d)) for d in drafts.facts),
    )


def _doubtful(drafts: Drafts) -> list[DraftEpisode | DraftFact]:
    """The drafts that a check may settle, the least sure first."""
    every: list[DraftEpisode | DraftFact] = [*drafts.episodes, *drafts.facts]
    doubtful = [draft for draft in every if draft.confidence < _SURE]
    return sorted(doubtful, key=lambda draft: draft.confidence)[:_MOST]


log = logging.getLogger(__name__)

Read = TypeVar("Read", Drafts, DraftSummary)


@dataclass(frozen=True, slots=True)
class _Readings(Generic[Read]):
    """One answer, read twice."""

    plain: Read
    strict: Read


@dataclass(kw_only=True, eq=False)
class DraftReader:
    """`asks_questions`: whether a new model is asked its questions in idle time."""

    llm_calls: LlmCalls
    trust: ModelTrust
    asks_questions: bool

    async def summary(self, task: LlmTask, passage: Passage) -> DraftSummary:
        """The model's summary of the passage and of what came before. Raises LlmFailed, LlmInterrupted."""
        readings = await self.llm_calls.ask(
            task,
            summary.render(passage),
            partial(_read_summary, passage=passage),
        )
        if task.is_idle:
            await self._ask_questions_once(task, passage.language)
        is_low = self.trust.is_low(task.owner, task.model)
        return readings.strict if is_low else readings.plain

    async def drafts(self, task: LlmTask, passage: Passage) -> Drafts:
        """The model's drafts of the passage. Raises LlmFailed, LlmInterrupted."""
        readings = await self.llm_calls.ask(
            task,
            extraction.render(passage),
            partial(_read, passage=passage),
        )
        if task.is_idle:
            await self._ask_questions_once(task, passage.language)
        if self.trust.is_low(task.owner, task.model):
            return readings.strict
        if not task.is_idle:
            return readings.plain
        return await checked(self.llm_calls, self.trust, task, passage, readings.plain)

    async def _ask_questions_once(self, task: LlmTask, language: str) -> None:
        model = task.model
        is_known = self.trust.right(task.owner, model) is not None
        if is_known or not self.asks_questions:
            return
        test = LlmTask(task.owner, task.soul, USAGE_KIND)
        try:
            right = await ask_questions(self.llm_calls, test, self.trust, language)
        except (LlmFailed, LlmInterrupted):
            return  # asked again after the next answer
        log.info("the model %s answers %d of 6 questions right", model, right)


def _read(text: str, passage: Passage) -> _Readings[Drafts]:
    """Both readings of an answer. Raises Unreadable."""
    strict = extraction.parse(text, passage, is_strict=True)
    return _Readings(extraction.parse(text, passage), strict)


def _read_summary(text: str, passage: Passage) -> _Readings[DraftSummary]:
    """Both readings of an answer. Raises Unreadable."""
    summary_text = summary.parse(text, passage)
    strict = grounded_summary(summary_text, passage, is_strict=True)
    return _Readings(grounded_summary(summary_text, passage), strict)
