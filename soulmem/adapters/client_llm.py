"""A language model behind the client's own connection: a prompt waits until a client answers it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from soulmem.assembly.tokens import estimate_tokens
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import Owner
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt, Unreadable
from soulmem.ports.llm import DeskTell, LlmRequest

MODEL = "client"  # what the settings call it
_REASON_SIGNS = 200  # of a client's reason


@dataclass(frozen=True, slots=True)
class ClientParams:
    """How long is waited for a client."""

    answer: float = 180.0  # seconds from the call to the answer; the setting llm.timeout_seconds
    fetch: float = 30.0  # seconds until a client must have fetched it: none is there, it seems
    # Seconds a client has it to itself. One that was closed meanwhile must not keep it until the end.
    lease: float = 90.0


@dataclass(slots=True)
class _Waiting:
    owner: Owner
    prompt: Prompt
    answered: asyncio.Future[str]
    leased_until: float | None = None  # monotonic seconds; None: no client has fetched it yet


class ClientDesk:
    """All prompts that wait for clients, in order."""

    def __init__(
        self, params: ClientParams | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._params = params or ClientParams()
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self._tell: DeskTell = _nobody

    def listen(self, tell: DeskTell) -> None:
        """See `LlmDesk`."""
        self._tell = tell

    def llm(self, owner: Owner) -> ClientLlm:
        """The model that this owner's clients reach."""
        return ClientLlm(self, owner)

    def take(self, owner: Owner) -> LlmRequest | None:
        """The owner's oldest prompt that no client has now; it is this client's for a while."""
        now = self._clock()
        for request, waiting in self._waiting.items():
            free = waiting.leased_until is None or waiting.leased_until <= now
            if waiting.owner == owner and free and not waiting.answered.done():
                waiting.leased_until = now + self._params.lease
                return LlmRequest(request, waiting.prompt)
        return None

    def answer(self, owner: Owner, request: str, text: str) -> None:
        """The first answer counts. Raises NotFound when nobody waits for it any more."""
        self._of(owner, request).answered.set_result(text)

    def refuse(self, owner: Owner, request: str, reason: str) -> None:
        """The client's connection failed. Raises NotFound like `answer`."""
        words = " ".join(reason.split())[:_REASON_SIGNS]
        failed = LlmFailed(Failure.SERVER, f"the client's own connection failed: {words}")
        self._of(owner, request).answered.set_exception(failed)

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
            await asyncio.wait([waiting.answered], timeout=min(self._params.fetch, self._params.answer))
            if waiting.leased_until is None and not waiting.answered.done():
                raise LlmFailed(Failure.UNREACHABLE, "no client with a connection of its own is open")
            await asyncio.wait([waiting.answered], timeout=max(0.0, self._params.answer - self._params.fetch))
            if not waiting.answered.done():
                raise LlmFailed(Failure.TIMEOUT, f"the client gave no answer in {self._params.answer:g} s")
            return waiting.answered.result()
        finally:
            del self._waiting[request]
            self._tell(owner, request, False)


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
