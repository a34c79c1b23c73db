"""The job `model_test`: asks the archivist for a summary and for drafts of a tiny passage."""

from __future__ import annotations

from functools import partial
from typing import Any

from soulmem.domain.drafts import Drafts, Passage, PassageLine
from soulmem.domain.errors import Unprocessable
from soulmem.domain.llm import Failure, LlmFailed, Unreadable
from soulmem.engine.llm.calls import LlmCalls, LlmTask
from soulmem.engine.llm.usage import LlmUsage
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.prompts import extraction, summary

USAGE_KIND = "test"  # kind of work that its calls are recorded under
# The same passage in each language; a model that fails on it fails on a chat, too.
_PASSAGES = {
    "en": Passage(
        "en",
        "Mira",
        ("Alice",),
        (
            PassageLine(
                1, "Alice", "I planted a rowan tree beside the mill today, Mira."
            ),
            PassageLine(
                2, "Mira", "I promise to water the rowan tree until you are back."
            ),
        ),
    ),
    "zh": Passage(
        "zh",
        "米拉",
        ("小雨",),
        (
            PassageLine(1, "小雨", "米拉，我今天在磨坊旁边种了一棵花楸树。"),
            PassageLine(2, "米拉", "我答应你，在你回来之前我会给那棵花楸树浇水。"),
        ),
    ),
}


class ModelTest:
    """Registers the job `model_test`, which waits while a reply is written.

    Its result has `state` (ok, off, unreadable for useless answers, failed), `model`,
    `seconds`, and the `answer` or the `reason` in words.
    """

    def __init__(
        self,
        *,
        llm_calls: LlmCalls,
    ) -> None:
        self._llm_calls = llm_calls

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("model_test", self._work, arguments=("language",)),)

    async def _work(self, run: JobRun) -> dict[str, Any]:
        passage = _PASSAGES.get(run.arguments.get("language", "en"))
        if passage is None:
            languages = ", ".join(sorted(_PASSAGES))
            raise Unprocessable(
                f"the test is there in the languages {languages}",
                field="arguments.language",
            )
        if not self._llm_calls.has_model:
            return {"state": "off", "model": None}
        task = LlmTask(run.owner, run.soul, USAGE_KIND, run.report, calls_expected=2)
        task.report_progress()
        seconds_before = self._seconds(run)
        outcome: dict[str, Any]
        try:
            outcome = {"state": "ok", "answer": await self._probe(task, passage)}
        except LlmFailed as failed:
            unreadable = failed.kind is Failure.UNREADABLE
            outcome = {
                "state": "unreadable" if unreadable else "failed",
                "reason": failed.message,
            }
        return {
            **outcome,
            "model": task.model,
            "seconds": round(self._seconds(run) - seconds_before, 1),
        }

    async def _probe(self, task: LlmTask, passage: Passage) -> str:
        """The summary, after drafts were readable, too. Raises LlmFailed."""
        answer = await self._llm_calls.ask(
            task,
            partial(summary.render, passage),
            partial(_checked_summary, passage=passage),
        )
        await self._llm_calls.ask(
            task,
            partial(extraction.render, passage),
            partial(_checked_drafts, passage=passage),
        )
        return answer

    def _seconds(self, run: JobRun) -> float:
        """Seconds of all tests of the soul so far, without waiting for replies."""
        totals = self._llm_calls.usage.totals(run.owner, run.soul)
        return totals.get(USAGE_KIND, LlmUsage()).seconds


def _checked_summary(text: str, passage: Passage) -> str:
    """The parsed summary. Raises Unreadable if it names no speaker of the passage."""
    summary_text = summary.parse(text, passage=passage)
    if not any(line.speaker in summary_text for line in passage.lines):
        raise Unreadable(
            "it answers, but not to what it is asked: its summary names nobody of the text"
        )
    return summary_text


def _checked_drafts(text: str, passage: Passage) -> Drafts:
    """The parsed drafts. Raises Unreadable if there is no scene and no fact."""
    drafts = extraction.parse(text, passage=passage)
    if not (drafts.episodes or drafts.facts):
        raise Unreadable(
            "it answers, but nothing can be remembered of its answer: it drafts no scene, no fact"
        )
    return drafts
