"""Asks a model for the summary or the drafts of a passage, and reads them as far as the model is trusted.

In idle time a model that was not asked its six questions yet is asked them after its first answer, and one
that passed them checks its doubtful drafts. A job makes only the calls whose price the user accepted.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from soulmem.domain.drafts import Drafts, DraftSummary, Passage
from soulmem.domain.llm import LlmFailed
from soulmem.engine.consolidation.draft_check import checked
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.llm.trust import USAGE_KIND, ModelTrust, ask_questions
from soulmem.prompts import extraction, summary
from soulmem.prompts.grounding.summaries import grounded_summary

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
