"""How far a language model is trusted, by the six questions that it was asked once.

An answer is asked for once per model and version of the prompts for drafts. A model below the mark is read
strictly, one above it checks its own drafts; one that was not asked yet is read as if it had passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.llm import Failure, LlmFailed
from soulmem.engine.llm.calls import LlmCalls, LlmTask
from soulmem.prompts import checking, extraction
from soulmem.prompts.model_questions import (
    MARK,
    PASSAGES,
    QUESTIONS,
    right_answers,
)

USAGE_KIND = "test"  # kind of work that its calls are recorded under


class ModelTrust:
    """Right answers by owner and model. `on_change` is called with the owner and soul of each new one."""

    def __init__(self) -> None:
        self.on_change: Callable[[Owner, SoulId], None] = lambda _owner, _soul: None
        self._right: dict[tuple[Owner, str], tuple[SoulId, int]] = {}

    def record(self, owner: Owner, soul: SoulId, model: str, right: int) -> None:
        """Remember the right answers of a model that was asked on behalf of a soul."""
        self._right[owner, _key(model)] = soul, right
        self.on_change(owner, soul)

    def restore(self, owner: Owner, soul: SoulId, right: Mapping[str, int]) -> None:
        """Take over what was stored for a soul."""
        for key, count in right.items():
            self._right[owner, key] = soul, count

    def of_soul(self, owner: Owner, soul: SoulId) -> dict[str, int]:
        """What is stored for a soul: right answers by model and version."""
        return {
            key: right
            for (whose, key), (asked_for, right) in self._right.items()
            if (whose, asked_for) == (owner, soul)
        }

    def right(self, owner: Owner, model: str) -> int | None:
        """Right answers of a model, 0..6; None until it was asked."""
        return self._right.get((owner, _key(model)), (SoulId(""), None))[1]

    def is_low(self, owner: Owner, model: str) -> bool:
        """Whether the model is below the mark."""
        right = self.right(owner, model)
        return right is not None and right < MARK

    def is_high(self, owner: Owner, model: str) -> bool:
        """Whether the model has reached the mark."""
        right = self.right(owner, model)
        return right is not None and right >= MARK


async def ask_questions(
    llm_calls: LlmCalls, task: LlmTask, trust: ModelTrust, language: str
) -> int:
    """Ask the six questions in one call, and record the right answers; they are none of unreadable answers.

    Raises LlmFailed if the model cannot be reached, LlmInterrupted.
    """
    statements = [question.statement for question in QUESTIONS[language]]
    right = 0
    try:
        answers = await llm_calls.ask(
            task,
            checking.render(PASSAGES[language], statements),
            partial(checking.parse, count=len(statements)),
        )
        right = right_answers(language, answers)
    except LlmFailed as failed:
        if failed.kind is not Failure.UNREADABLE:
            raise
    trust.record(task.owner, task.soul, task.model, right)
    return right


def _key(model: str) -> str:
    return f"{model} {extraction.NAME} {extraction.VERSION}"
