"""How is a language model asked at rest? One call at a time, never into a reply, and every call is booked.

What it answers unreadably is asked for once more, in another form.
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
from soulmem.engine.llm.usage import Spent, UsageLedger
from soulmem.engine.runtime.worker import Worker
from soulmem.ports.clock import Clock
from soulmem.ports.llm import Llm

T = TypeVar("T")
Tell = Callable[[int, int, str], None]

_LOOK_SECONDS = 0.5  # between two looks whether a reply is still written


class LlmInterrupted(Exception):
    """No further call in this round."""


class Render(Protocol):
    """The prompt; `plain` for a model that could not keep to JSON."""

    def __call__(self, *, plain: bool) -> Prompt:
        """Computes little."""
        ...


@dataclass(slots=True)
class LlmTask:
    """Calls that belong together: of a job, which is waited for, or in Idle, which gives way (no `tell`)."""

    owner: Owner
    soul: SoulId
    work: str  # the books that its calls go into
    tell: Tell | None = None
    done: int = 0  # calls
    left: int = 0  # calls in all, as far as that is known
    model: str = ""  # that was asked last
    source: str = ""  # what its changes are undone by
    written: int = 0  # memories
    failed: dict[tuple[ChatId, Work], str] = field(
        default_factory=dict
    )  # why nothing came of it

    def parked(self) -> list[str]:
        """Which chats wait, and why."""
        return [f"{chat}: {reason}" for (chat, _), reason in self.failed.items()]

    def told(self) -> None:
        """Say how far it is; a job that is not wanted any more ends here."""
        if self.tell is not None:
            self.tell(self.done, max(self.done, self.left), "calls")


class LlmCalls:
    """Asks the archivist. `ledger` and `parking` are those of all its work."""

    def __init__(
        self,
        llms: LlmAccess,
        compute: Worker,
        clock: Clock,
        is_busy: Callable[[], bool],
        ledger: UsageLedger,
        parking: Deferrals,
    ) -> None:
        self.usage = ledger
        self.deferrals = parking
        self.is_busy = is_busy
        self._llms = llms
        self._compute = compute
        self._clock = clock
        self._turn = asyncio.Lock()  # one call at a time: there is one model

    @property
    def has_model(self) -> bool:
        """Whether there is anybody to ask."""
        return self._llms.has_archivist

    async def ask(self, task: LlmTask, render: Render, read: Callable[[str], T]) -> T:
        """The parsed answer of the archivist. Raises LlmFailed; LlmInterrupted for idle work that may not go on.

        A failed call is repeated once, after an unreadable answer with the plain form of the prompt; not if the
        model was unavailable before or refuses. `read` runs on the compute thread and raises Unreadable.
        """
        failure: LlmFailed | None = None
        for attempt in range(1 if self.deferrals.is_down else 2):
            plain = (
                attempt > 0
                and failure is not None
                and failure.kind is Failure.UNREADABLE
            )
            prompt = render(plain=plain)
            try:
                async with self._turn:
                    text = None
                    while text is None:
                        await self._wait(task, _most_tokens(prompt))
                        text = await self._call(task, prompt)
                task.done += 1
                self.deferrals.up()
                return await self._compute.run(read, well_formed(text))
            except LlmFailed as failed:
                failure = failed
                self._book(task, Spent(failed=1))
                if failed.kind is Failure.REFUSED:
                    break
        assert failure is not None
        raise failure

    async def _wait(self, task: LlmTask, tokens: int) -> None:
        """Until a call of so many tokens may start. Raises LlmInterrupted in Idle, which comes again."""
        if task.tell is None and (
            self.is_busy() or not self.usage.has_room(self._clock.now(), tokens)
        ):
            raise LlmInterrupted
        while self.is_busy():
            await asyncio.sleep(_LOOK_SECONDS)
            task.told()

    async def _call(self, task: LlmTask, prompt: Prompt) -> str | None:
        """The model's answer, booked whatever comes of it; None when a reply came first. Raises LlmFailed."""
        llm = self._llms.archivist(task.owner)
        assert llm is not None
        task.model = llm.name
        asked = _most_tokens(prompt) - prompt.max_tokens
        spent = Spent(calls=1, prompt_tokens=asked)
        began = asyncio.get_running_loop().time()
        try:
            asking = asyncio.ensure_future(self._unless_busy(llm, prompt))
            try:
                while not (await asyncio.wait([asking], timeout=_LOOK_SECONDS))[0]:
                    task.told()
            finally:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
            answer = asking.result()
            if answer is None:
                spent = Spent()
                return None
            spent = Spent(
                1, 0, answer.prompt_tokens, answer.answer_tokens, answer.seconds
            )
        except LlmFailed:
            spent = Spent(1, 0, asked, 0, asyncio.get_running_loop().time() - began)
            raise
        finally:
            self._book(task, spent)
        return answer.text

    async def _unless_busy(self, llm: Llm, prompt: Prompt) -> Completion | None:
        """A task begins a moment after it is made: a reply may have begun in that moment."""
        return None if self.is_busy() else await llm.complete(prompt)

    def _book(self, task: LlmTask, spent: Spent) -> None:
        self.usage.book(task.owner, task.soul, task.work, spent, self._clock.now())


def _most_tokens(prompt: Prompt) -> int:
    """What a call may cost at most, by our own estimate."""
    return (
        estimate_tokens(prompt.system)
        + estimate_tokens(prompt.user)
        + prompt.max_tokens
    )
