"""A language model behind the client's own connection: a prompt waits until a client answers it."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from soulmem.assembly.tokens import estimate_tokens
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import Owner
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt, Unreadable
from soulmem.ports.llm import LlmRequest, RequestListener

MODEL = "client"  # what the settings call it
_REASON_SIGNS = 200  # of a client's reason
_STEP = 1.0  # seconds between looks at whether prompts are held back


@dataclass(frozen=True, slots=True)
class ClientParams:
    """How long is waited for a client; all of it anew when one gives the call back."""

    answer: float = (
        180.0  # seconds from the call to the answer; the setting llm.timeout_seconds
    )
    fetch: float = (
        30.0  # seconds until a client must have fetched it: none is there, it seems
    )
    # Seconds a client has it to itself. One that was closed meanwhile must not keep it until the end.
    lease: float = 90.0


@dataclass(slots=True)
class _Waiting:
    owner: Owner
    prompt: Prompt
    answered: asyncio.Future[
        str | None
    ]  # None: it was given back, and another future takes this one's place
    clients: int = 0  # that fetched it and did not give it back; more than one after a lease ran out
    leased_until: float = -math.inf  # monotonic seconds


class ClientDesk:
    """All prompts that wait for clients, in order."""

    def __init__(
        self,
        params: ClientParams | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._params = params or ClientParams()
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self._tell: RequestListener = _nobody
        self._is_held: Callable[[], bool] = bool

    def listen(self, tell: RequestListener, is_held: Callable[[], bool]) -> None:
        """See `LlmDesk`."""
        self._tell, self._is_held = tell, is_held

    def llm(self, owner: Owner) -> ClientLlm:
        """The model that this owner's clients reach."""
        return ClientLlm(self, owner)

    def take(self, owner: Owner) -> LlmRequest | None:
        """The owner's oldest prompt that no client has now; it is this client's for a while."""
        current_time = self._clock()
        for request, waiting in self._waiting.items():
            free = waiting.leased_until <= current_time and not waiting.answered.done()
            if waiting.owner == owner and free:
                waiting.clients += 1
                waiting.leased_until = current_time + self._params.lease
                return LlmRequest(request, waiting.prompt)
        return None

    def answer(self, owner: Owner, request: str, text: str) -> None:
        """The first answer counts. Raises NotFound when nobody waits for it any more."""
        self._of(owner, request).answered.set_result(text)

    def refuse(self, owner: Owner, request: str, reason: str) -> None:
        """The client's connection failed. Raises NotFound like `answer`."""
        words = " ".join(reason.split())[:_REASON_SIGNS]
        failed = LlmFailed(
            Failure.SERVER, f"the client's own connection failed: {words}"
        )
        self._of(owner, request).answered.set_exception(failed)

    def give_back(self, owner: Owner, request: str) -> None:
        """See `LlmDesk`. One whose lease ran out may still answer: then it is not waited for anew."""
        waiting = self._of(owner, request)
        if not waiting.clients:
            return
        waiting.clients -= 1
        waiting.leased_until = -math.inf
        if not waiting.clients:
            over, waiting.answered = (
                waiting.answered,
                waiting.answered.get_loop().create_future(),
            )
            over.set_result(None)
        self._tell(owner, request, True)

    def _of(self, owner: Owner, request: str) -> _Waiting:
        waiting = self._waiting.get(request)
        if waiting is None or waiting.owner != owner or waiting.answered.done():
            raise NotFound(f"nobody waits for the answer {request!r} any more")
        return waiting

    async def wait_for(self, owner: Owner, prompt: Prompt) -> str:
        """Put the prompt on the desk until it is answered. Raises LlmFailed."""
        request = secrets.token_hex(12)
        waiting = _Waiting(owner, prompt, asyncio.get_running_loop().create_future())
        self._waiting[request] = waiting
        self._tell(owner, request, True)
        try:
            while (text := await self._offer(waiting)) is None:
                pass
            return text
        finally:
            del self._waiting[request]
            self._tell(owner, request, False)

    async def _offer(self, waiting: _Waiting) -> str | None:
        """The answer; None when it was given back. Raises LlmFailed."""
        answered = waiting.answered
        remaining = min(self._params.fetch, self._params.answer)
        while remaining > 0 and not answered.done():
            step = min(remaining, _STEP)
            await asyncio.wait([answered], timeout=step)
            remaining -= 0 if not waiting.clients and self._is_held() else step
        if not waiting.clients and not answered.done():
            raise LlmFailed(
                Failure.UNREACHABLE, "no client with a connection of its own is open"
            )
        await asyncio.wait(
            [answered], timeout=max(0.0, self._params.answer - self._params.fetch)
        )
        if not answered.done():
            raise LlmFailed(
                Failure.TIMEOUT,
                f"the client gave no answer in {self._params.answer:g} s",
            )
        return answered.result()


def _nobody(owner: Owner, request: str, waits: bool) -> None:
    """Nobody listens."""


class ClientLlm:
    """The model of one owner's clients."""

    def __init__(self, desk: ClientDesk, owner: Owner) -> None:
        self._desk = desk
        self._owner = owner

    @property
    def name(self) -> str:
        """Which model it is, the client knows."""
        return MODEL

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer, unread; tokens are estimated. Raises LlmFailed."""
        began = time.monotonic()
        text = await self._desk.wait_for(self._owner, prompt)
        if not text.strip():
            raise Unreadable("the client's model gave an empty answer")
        asked = estimate_tokens(prompt.system + prompt.user)
        return Completion(text, asked, estimate_tokens(text), time.monotonic() - began)
