"""Does the language model for memory work answer, and in the form that it is asked for?"""

from __future__ import annotations

from functools import partial
from typing import Any

from soulmem.domain.drafts import Passage, PassageLine
from soulmem.domain.errors import Unprocessable
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.engine.asking import Asking, Errand
from soulmem.engine.jobs import JobKind, JobRun, Jobs
from soulmem.engine.ledger import Spent
from soulmem.prompts import summary

BOOKS = "test"  # of the ledger, in which its calls stand
# Told in each language; a model that cannot sum this up cannot sum up a chat.
_PASSAGES = {
    "en": Passage(
        "en",
        "Mira",
        ("Alice",),
        (
            PassageLine(1, "Alice", "I planted a rowan tree beside the mill today, Mira."),
            PassageLine(2, "Mira", "I promise to water the rowan tree until you are back."),
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

    def __init__(self, jobs: Jobs, asking: Asking) -> None:
        self._asking = asking
        jobs.register(JobKind("model_test", self._work, arguments=("language",)))

    async def _work(self, run: JobRun) -> dict[str, Any]:
        passage = _PASSAGES.get(run.arguments.get("language", "en"))
        if passage is None:
            known = ", ".join(sorted(_PASSAGES))
            raise Unprocessable(f"the test is there in the languages {known}", field="arguments.language")
        if not self._asking.has_model:
            return {"state": "off", "model": None}
        errand = Errand(run.owner, run.soul, BOOKS, run.tell, left=1)
        errand.told()
        before = self._seconds(run)
        told: dict[str, Any]
        try:
            answer = await self._asking.ask(
                errand, partial(summary.render, passage), partial(summary.parse, passage=passage)
            )
            told = {"state": "ok", "answer": answer}
        except LlmFailed as failed:
            unreadable = failed.kind is Failure.UNREADABLE
            told = {"state": "unreadable" if unreadable else "failed", "reason": failed.message}
        return {**told, "model": errand.model, "seconds": round(self._seconds(run) - before, 1)}

    def _seconds(self, run: JobRun) -> float:
        """What tests took so far, without what they waited for a reply to be written."""
        return self._asking.ledger.totals(run.owner, run.soul).get(BOOKS, Spent()).seconds
