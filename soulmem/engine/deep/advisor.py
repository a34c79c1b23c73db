"""The language model of a deep recall: plans and reflections, at most six calls, within the time of the job."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from soulmem.domain.llm import Failure, LlmFailed, Prompt
from soulmem.engine.deep.search import OutOfTime
from soulmem.engine.llm.calls import LlmCalls, LlmTask
from soulmem.prompts import deep as prompt

T = TypeVar("T")

_POLL_SECONDS = 0.2  # between two looks whether the job is still wanted
_ATTEMPTS = 2  # for one prompt


class Advisor:
    """Asks the model on behalf of one job. A failed call costs a step, not the job."""

    def __init__(
        self,
        *,
        llm_calls: LlmCalls,
        task: LlmTask,
        calls: int,
        deadline: float,
        is_wanted: Callable[[], None],
    ) -> None:
        """`calls` at most until the `deadline` (time of the event loop).

        `is_wanted` is called while an answer is waited for; it raises what ends the job.
        """
        self._llm_calls = llm_calls
        self._task = task
        self._most_calls = calls
        self._deadline = deadline
        self._is_wanted = is_wanted
        self.failure: LlmFailed | None = None  # why no further call makes sense

    @property
    def calls(self) -> int:
        """Calls so far, failed ones included."""
        return self._task.calls_begun

    @property
    def may_ask(self) -> bool:
        """Whether a further call is allowed and makes sense."""
        has_model = self._llm_calls.has_model and self.failure is None
        return has_model and self.calls < self._most_calls

    async def plan(self, question: str, soul: str, memories: Sequence[str]) -> prompt.Plan | None:
        """The model's plan; None after an unreadable answer, or without an answer. Raises OutOfTime."""
        asking = prompt.render_plan(question, soul, memories)
        return await self._ask(asking, partial(prompt.parse_plan, memories=len(memories)))

    async def reflect(
        self, question: str, soul: str, asked: Sequence[str], memories: Sequence[str]
    ) -> prompt.Reflection | None:
        """What the model makes of the memories; None like `plan`. Raises OutOfTime."""
        asking = prompt.render_reflection(question, soul, asked, memories)
        return await self._ask(asking, partial(prompt.parse_reflection, memories=len(memories)))

    async def _ask(self, asking: Prompt, read: Callable[[str], T]) -> T | None:
        self._task.attempts = min(_ATTEMPTS, self._most_calls - self.calls)
        try:
            return await self._watched(self._llm_calls.ask(self._task, asking, read))
        except LlmFailed as failed:
            if failed.kind is not Failure.UNREADABLE:
                self.failure = failed
            return None

    async def _watched(self, answering: Awaitable[T]) -> T:
        """The answer, unless time is over or the job is not wanted any more: then the call ends at once."""
        task = asyncio.ensure_future(answering)
        loop = asyncio.get_running_loop()
        try:
            while not task.done():
                left = self._deadline - loop.time()
                if left <= 0:
                    raise OutOfTime
                await asyncio.wait([task], timeout=min(_POLL_SECONDS, left))
                self._is_wanted()
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
