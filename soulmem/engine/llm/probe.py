"""Does the language model for memory work answer to the matter, and in the forms that work asks for?"""

from __future__ import annotations

from functools import partial
from typing import Any

from soulmem.domain.drafts import Drafts, Passage, PassageLine
from soulmem.domain.errors import Unprocessable
from soulmem.domain.llm import Failure, LlmFailed, Unreadable
from soulmem.engine.llm.calls import LlmCalls, LlmTask
from soulmem.engine.llm.usage import Spent
from soulmem.engine.runtime.jobs import JobKind, JobRun, Jobs
from soulmem.prompts import extraction, summary

BOOKS = "test"  # of the ledger, in which its calls stand
# Told in each language; a model that cannot sum this up, or draft memories of it, cannot do so with a chat.
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
    """The job `model_test`: a reply may have to be waited for. Its result says `state`: ok, off, unreadable
    (answers, but nothing to use) or failed, with the `model`, the `seconds` it took, and its `answer` or the
    `reason` in words.
    """

    def __init__(self, jobs: Jobs, asking: LlmCalls) -> None:
        self._llm_calls = asking
        jobs.register(JobKind("model_test", self._work, arguments=("language",)))

    async def _work(self, run: JobRun) -> dict[str, Any]:
        passage = _PASSAGES.get(run.arguments.get("language", "en"))
        if passage is None:
            known = ", ".join(sorted(_PASSAGES))
            raise Unprocessable(
                f"the test is there in the languages {known}",
                field="arguments.language",
            )
        if not self._llm_calls.has_model:
            return {"state": "off", "model": None}
        task = LlmTask(run.owner, run.soul, BOOKS, run.tell, left=2)
        task.told()
        before = self._seconds(run)
        told: dict[str, Any]
        try:
            answer = await self._llm_calls.ask(
                task,
                partial(summary.render, passage),
                partial(_summed_up, passage=passage),
            )
            await self._llm_calls.ask(
                task,
                partial(extraction.render, passage),
                partial(_drafted, passage=passage),
            )
            told = {"state": "ok", "answer": answer}
        except LlmFailed as failed:
            unreadable = failed.kind is Failure.UNREADABLE
            told = {
                "state": "unreadable" if unreadable else "failed",
                "reason": failed.message,
            }
        return {
            **told,
            "model": task.model,
            "seconds": round(self._seconds(run) - before, 1),
        }

    def _seconds(self, run: JobRun) -> float:
        """What tests took so far, without what they waited for a reply to be written."""
        return (
            self._llm_calls.usage.totals(run.owner, run.soul)
            .get(BOOKS, Spent())
            .seconds
        )


def _summed_up(text: str, passage: Passage) -> str:
    """The summary. Raises Unreadable for one that has nothing to do with the passage."""
    told = summary.parse(text, passage=passage)
    if not any(line.speaker in told for line in passage.lines):
        raise Unreadable(
            "it answers, but not to what it is asked: its summary names nobody of the text"
        )
    return told


def _drafted(text: str, passage: Passage) -> Drafts:
    """What it drafted. Raises Unreadable where there is nothing in it."""
    drafts = extraction.parse(text, passage=passage)
    if not (drafts.episodes or drafts.facts):
        raise Unreadable(
            "it answers, but nothing can be remembered of its answer: it drafts no scene, no fact"
        )
    return drafts
