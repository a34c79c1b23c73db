"""Calls to the archivist model for memory work: one at a time, never during a reply, each recorded as usage.

A call that failed is repeated once; after an unreadable answer with the plain form of
its prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from soulmem.assembly.tokens import estimate_tokens
from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt
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
    """No further call may start in this round of work."""


class RenderPrompt(Protocol):
    """Renders a prompt; `plain` is the form for models that did not keep to JSON."""

    def __call__(self, *, plain: bool) -> Prompt:
        """The prompt. Cheap enough for the event loop."""
        ...


@dataclass(slots=True)
class LlmTask:
    """Calls that belong together, with their counts: those of a job, or those of one idle round.

    A job has `progress` and waits until it may call; idle work has none and gives way.
    """

    owner: Owner
    soul: SoulId
    work: str  # kind of work that usage is recorded under
    progress: ReportProgress | None = None
    calls_made: int = 0
    calls_expected: int = 0  # in all, as far as is known
    model: str = ""  # of the last call
    source: str = ""  # audit source by which its changes are undone
    memories_written: int = 0
    failures: dict[tuple[ChatId, Work], str] = field(default_factory=dict)  # reasons

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


class LlmCalls:
    """Calls the archivist and records usage. `usage` and `deferrals` are shared by all its work."""

    def __init__(
        self,
        *,
        llms: LlmAccess,
        compute: Worker,
        clock: Clock,
        is_busy: Callable[[], bool],
        usage: UsageLedger,
        deferrals: Deferrals,
    ) -> None:
        self.usage = usage
        self.deferrals = deferrals
        self.is_busy = is_busy
        self._llms = llms
        self._compute = compute
        self._clock = clock
        self._one_call = asyncio.Lock()  # there is one model

    @property
    def has_model(self) -> bool:
        """Whether an archivist is configured."""
        return self._llms.has_archivist

    async def ask(
        self, task: LlmTask, render: RenderPrompt, read: Callable[[str], T]
    ) -> T:
        """The parsed answer of the archivist.

        A failed call is repeated once, unless the model was unavailable before or
        refused. `read` runs on the compute thread and raises Unreadable. Raises
        LlmFailed, and LlmInterrupted if idle work may not go on.
        """
        failure: LlmFailed | None = None
        for _ in range(1 if self.deferrals.unavailable_reason else 2):
            is_unreadable = failure is not None and failure.kind is Failure.UNREADABLE
            prompt = render(plain=is_unreadable)
            try:
                text = await self._complete(task, prompt)
                task.calls_made += 1
                self.deferrals.model_available()
                return await self._compute.run(read, well_formed(text))
            except LlmFailed as failed:
                failure = failed
                self._record(task, LlmUsage(failed=1))
                if failed.kind is Failure.REFUSED:
                    break
        assert failure is not None
        raise failure

    async def _complete(self, task: LlmTask, prompt: Prompt) -> str:
        """The model's answer. Raises LlmFailed, LlmInterrupted."""
        async with self._one_call:
            text = None
            while text is None:
                await self._wait_until_free(task, _max_tokens(prompt))
                text = await self._call(task, prompt)
        return text

    async def _wait_until_free(self, task: LlmTask, tokens: int) -> None:
        """Wait until a call of `tokens` tokens may start. Raises LlmInterrupted instead for idle work."""
        if task.is_idle and (
            self.is_busy() or not self.usage.has_room(self._clock.now(), tokens)
        ):
            raise LlmInterrupted
        while self.is_busy():
            await asyncio.sleep(_POLL_SECONDS)
            task.report_progress()

    async def _call(self, task: LlmTask, prompt: Prompt) -> str | None:
        """The model's answer, usage recorded in any case; None if a reply began first. Raises LlmFailed."""
        llm = self._llms.archivist(task.owner)
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
            spent = LlmUsage(
                1, 0, answer.prompt_tokens, answer.answer_tokens, answer.seconds
            )
        except LlmFailed:
            seconds = asyncio.get_running_loop().time() - began
            spent = LlmUsage(1, 0, prompt_tokens, 0, seconds)
            raise
        finally:
            self._record(task, spent)
        return answer.text

    async def _unless_busy(self, llm: Llm, prompt: Prompt) -> Completion | None:
        """The completion; None if a reply began between the creation and the start of this task."""
        return None if self.is_busy() else await llm.complete(prompt)

    def _record(self, task: LlmTask, spent: LlmUsage) -> None:
        self.usage.record(task.owner, task.soul, task.work, spent, self._clock.now())


def _max_tokens(prompt: Prompt) -> int:
    """The most tokens that a call may use, prompt and answer, as estimated here."""
    return (
        estimate_tokens(prompt.system)
        + estimate_tokens(prompt.user)
        + prompt.max_tokens
    )
