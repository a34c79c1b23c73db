"""The job `model_test`: asks the archivist for a summary and drafts of a tiny passage, and six questions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from soulmem.domain.drafts import Drafts, Passage
from soulmem.domain.errors import Unprocessable
from soulmem.domain.llm import Failure, LlmFailed, Unreadable
from soulmem.domain.phrases import phrase
from soulmem.engine.llm.calls import LlmCalls, LlmTask
from soulmem.engine.llm.trust import USAGE_KIND, ModelTrust, ask_questions
from soulmem.engine.llm.usage import LlmUsage
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.prompts import extraction, summary
from soulmem.prompts.model_questions import MARK, PASSAGES, QUESTIONS

_CALLS = 3


@dataclass(kw_only=True, eq=False)
class ModelTest:
    """Registers the job `model_test`, which waits while a reply is written.

    Its result has `state` (ok, weak for too few right answers, off, unreadable for useless answers, failed),
    `model`, `seconds`, `right` of `asked` questions where it got so far, and the `answer` or the `reason` in
    words, with its `reason_phrase`. Below the mark its drafts are read strictly.
    """

    llm_calls: LlmCalls
    trust: ModelTrust

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("model_test", self._work, arguments=("language",)),)

    async def _work(self, run: JobRun) -> dict[str, Any]:
        language = run.arguments.get("language", "en")
        if language not in PASSAGES:
            languages = ", ".join(sorted(PASSAGES))
            raise Unprocessable(
                phrase(
                    "test_languages",
                    "the test is there in the languages {languages}",
                    languages=languages,
                ),
                field="arguments.language",
            )
        if not self.llm_calls.has_model:
            return {"state": "off", "model": None}
        task = LlmTask(run.owner, run.soul, USAGE_KIND, run.report, calls_expected=_CALLS)
        task.report_progress()
        seconds_before = self._seconds(run)
        outcome: dict[str, Any]
        try:
            outcome = await self._probe(task, language)
        except LlmFailed as failed:
            unreadable = failed.kind is Failure.UNREADABLE
            if unreadable:
                self.trust.record(task.owner, task.soul, task.model, 0)
            outcome = {
                "state": "unreadable" if unreadable else "failed",
                "reason": failed.message,
                "reason_phrase": failed.phrase and failed.phrase.as_json(),
            }
        return {
            **outcome,
            "model": task.model,
            "seconds": round(self._seconds(run) - seconds_before, 1),
        }

    async def _probe(self, task: LlmTask, language: str) -> dict[str, Any]:
        """The summary and the right answers, after drafts were readable, too. Raises LlmFailed."""
        passage = PASSAGES[language]
        answer = await self.llm_calls.ask(
            task,
            summary.render(passage),
            partial(_checked_summary, passage=passage),
        )
        await self.llm_calls.ask(
            task,
            extraction.render(passage),
            partial(_checked_drafts, passage=passage),
        )
        right = await ask_questions(self.llm_calls, task, self.trust, language)
        return {
            "state": "ok" if right >= MARK else "weak",
            "answer": answer,
            "right": right,
            "asked": len(QUESTIONS[language]),
        }

    def _seconds(self, run: JobRun) -> float:
        """Seconds of all tests of the soul so far, without waiting for replies."""
        totals = self.llm_calls.usage.totals(run.owner, run.soul)
        return totals.get(USAGE_KIND, LlmUsage()).seconds


def _checked_summary(text: str, passage: Passage) -> str:
    """The parsed summary. Raises Unreadable if it names no speaker of the passage."""
    summary_text = summary.parse(text, passage=passage)
    if not any(line.speaker in summary_text for line in passage.lines):
        raise Unreadable(
            phrase(
                "test_other_answer",
                "it answers, but not to what it is asked: its summary names nobody of the text",
            )
        )
    return summary_text


def _checked_drafts(text: str, passage: Passage) -> Drafts:
    """The parsed drafts. Raises Unreadable if there is no scene and no fact."""
    drafts = extraction.parse(text, passage=passage)
    if not (drafts.episodes or drafts.facts):
        raise Unreadable(
            phrase(
                "test_no_drafts",
                "it answers, but nothing can be remembered of its answer: it drafts no scene, no fact",
            )
        )
    return drafts
