"""Calls to the archivist model for memory work: one at a time, never during a reply, each recorded as usage.

A call that failed is repeated once, and so is one whose answer cannot be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TypeVar

from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt, ToolRequest
from soulmem.domain.phrases import Wording
from soulmem.domain.texts import well_formed
from soulmem.engine.llm.retry import Deferrals
from soulmem.engine.llm.sources import LlmAccess
from soulmem.engine.llm.usage import LlmUsage, UsageLedger
from soulmem.engine.runtime.worker import Worker
from soulmem.ports.clock import Clock
from soulmem.ports.llm import Llm

T = TypeVar("T")
ReportProgress = Callable[[int, int, str], None]  # done, total, unit

_POLL_SECONDS = 0.5  # between two checks whether a reply is still written


class LlmInterrupted(Exception):
    """No further call may start in this round of work; `for_room`: the hourly limits have no room for it."""

    def __init__(self, *, for_room: bool = False) -> None:
        super().__init__()
        self.for_room = for_room


@dataclass(slots=True)
class LlmTask:
    """Calls that belong together, with their counts: those of a job, or those of one idle round.

    A job has `progress` and waits until it may call; idle work has none and gives way.
    """

    owner: Owner
    soul: SoulId
    work: str  # kind of work that usage is recorded under
    progress: ReportProgress | None = None
    attempts: int = 2  # calls for one prompt at most
    calls_begun: int = 0  # failed ones too
    calls_made: int = 0
    calls_expected: int = 0  # in all, as far as is known
    model: str = ""  # of the last call
    source: str = ""  # audit source by which its changes are undone
    memories_written: int = 0
    failures: dict[tuple[ChatId, Work], Wording] = field(default_factory=dict)  # reasons

    @property
    def is_idle(self) -> bool:
        """Whether this is idle work, which gives way to replies and hourly limits."""
        return self.progress is None

    def failure_lines(self) -> list[str]:
        """One line for each failure: chat and reason."""
        return [f"{chat}: {reason}" for (chat, _), reason in self.failures.items()]

    def report_progress(self) -> None:
        """Report the calls made so far. Raises what ends a cancelled job."""
        if self.progress is not None:
            expected = max(self.calls_made, self.calls_expected)
            self.progress(self.calls_made, expected, "calls")


@dataclass(kw_only=True, eq=False)
class LlmCalls:
    """Calls the archivist and records usage. `usage` and `deferrals` are shared by all its work."""

    llms: LlmAccess
    compute: Worker
    clock: Clock
    is_busy: Callable[[], bool]
    usage: UsageLedger
    deferrals: Deferrals

    def __post_init__(self) -> None:
        self._one_call = asyncio.Lock()  # there is one model

    @property
    def has_model(self) -> bool:
        """Whether an archivist is configured."""
        return self.llms.has_archivist

    def takes_tools(self, owner: Owner) -> bool:
        """Whether the archivist's server takes tools, as far as is known."""
        llm = self.llms.archivist(owner)
        return llm is not None and llm.takes_tools

    async def ask(self, task: LlmTask, prompt: Prompt, read: Callable[[str], T]) -> T:
        """The parsed answer of the archivist.

        A failed call is repeated once, unless the model was unavailable before or
        refused, or the task allows one attempt. `read` runs on the compute thread and raises Unreadable. Raises
        LlmFailed, and LlmInterrupted if idle work may not go on.
        """
        failure: LlmFailed | None = None
        most = 1 if self.deferrals.unavailable_reason else task.attempts
        for _ in range(most):
            try:
                text = (await self._complete(task, prompt)).text
                task.calls_made += 1
                self.deferrals.model_available()
                return await self.compute.run(read, text)
            except LlmFailed as failed:
                failure = failed
                self._record(task, LlmUsage(failed=1))
                if failed.kind is Failure.REFUSED:
                    break
        assert failure is not None
        raise failure

    async def ask_once(self, task: LlmTask, prompt: Prompt) -> Completion:
        """The archivist's answer to one call, which is not repeated. Raises LlmFailed."""
        try:
            answer = await self._complete(task, prompt)
        except LlmFailed:
            self._record(task, LlmUsage(failed=1))
            raise
        task.calls_made += 1
        self.deferrals.model_available()
        return answer

    async def _complete(self, task: LlmTask, prompt: Prompt) -> Completion:
        """The model's answer. Raises LlmFailed, LlmInterrupted."""
        # A call that a reply waits for must not wait for one that waits for the end of the reply.
        async with nullcontext() if prompt.for_reply else self._one_call:
            answer = None
            while answer is None:
                if not prompt.for_reply:
                    await self._wait_until_free(task, _max_tokens(prompt))
                answer = await self._call(task, prompt)
        return _sound(answer)

    async def _wait_until_free(self, task: LlmTask, tokens: int) -> None:
        """Wait until a call of `tokens` tokens may start. Raises LlmInterrupted instead for idle work."""
        if task.is_idle:
            if self.is_busy():
                raise LlmInterrupted
            if not self.usage.has_room(self.clock.now(), tokens):
                raise LlmInterrupted(for_room=True)
        while self.is_busy():
            await asyncio.sleep(_POLL_SECONDS)
            task.report_progress()

    async def _call(self, task: LlmTask, prompt: Prompt) -> Completion | None:
        """The model's answer, usage recorded in any case; None if a reply began first. Raises LlmFailed."""
        llm = self.llms.archivist(task.owner)
        assert llm is not None
        task.model = llm.name
        prompt_tokens = _max_tokens(prompt) - prompt.max_tokens
        spent = LlmUsage(calls=1, prompt_tokens=prompt_tokens)
        began = asyncio.get_running_loop().time()
        try:
            completing = asyncio.ensure_future(self._unless_busy(llm, prompt))
            try:
                while not (await asyncio.wait([completing], timeout=_POLL_SECONDS))[0]:
                    task.report_progress()
            finally:
                completing.cancel()
                await asyncio.gather(completing, return_exceptions=True)
            answer = completing.result()
            if answer is None:
                spent = LlmUsage()
                return None
            spent = LlmUsage(1, 0, answer.prompt_tokens, answer.answer_tokens, answer.seconds)
        except LlmFailed:
            seconds = asyncio.get_running_loop().time() - began
            spent = LlmUsage(1, 0, prompt_tokens, 0, seconds)
            raise
        finally:
            task.calls_begun += spent.calls
            self._record(task, spent)
        return answer

    async def _unless_busy(self, llm: Llm, prompt: Prompt) -> Completion | None:
        """The completion; None if a reply began between the creation and the start of this task."""
        if self.is_busy() and not prompt.for_reply:
            return None
        return await llm.complete(prompt)

    def _record(self, task: LlmTask, spent: LlmUsage) -> None:
        self.usage.record(task.owner, task.soul, task.work, spent, self.clock.now())


def _max_tokens(prompt: Prompt) -> int:
    """The most tokens that a call may use, prompt and answer, as estimated here."""
    return sum(map(estimate_tokens, prompt.texts())) + prompt.max_tokens


def _sound(answer: Completion) -> Completion:
    """The answer with lone surrogates replaced in all its texts."""
    requests = (
        ToolRequest(*map(well_formed, (call.id, call.name, call.arguments)))
        for call in answer.requests
    )
    return replace(answer, text=well_formed(answer.text), requests=tuple(requests))
