"""A language model on the client's own connection: a prompt waits until a client answers it."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import Owner
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt, Unreadable
from soulmem.domain.phrases import phrase
from soulmem.ports.llm import LlmRequest, RequestListener

MODEL = "client"  # its name in the settings
_REASON_CHARACTERS = 200  # kept of a client's reason
_STEP = 1.0  # seconds between checks whether prompts are paused


@dataclass(frozen=True, slots=True)
class ClientParams:
    """How long to wait for a client, in seconds. The time starts again when a client returns the call."""

    answer: float = 180.0  # from the call to the answer; the setting llm.timeout_seconds
    fetch: float = 30.0  # until a client must have taken it, else no client is open
    lease: float = 90.0  # no other client gets it; limited, as a client may be closed


@dataclass(slots=True)
class _Waiting:
    owner: Owner
    prompt: Prompt
    # None: the call was returned by its client, and another future replaces this one.
    answered: asyncio.Future[str | None]
    clients: int = 0  # that have it now; more than one after a lease has expired
    leased_until: float = -math.inf  # monotonic seconds


class ClientDesk:
    """All prompts that wait for clients, oldest first."""

    def __init__(
        self,
        params: ClientParams | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._params = params or ClientParams()
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self._tell: RequestListener = _no_listener
        self._is_paused: Callable[[], bool] = bool

    def listen(self, tell: RequestListener, is_held: Callable[[], bool]) -> None:
        """See `LlmDesk`."""
        self._tell, self._is_paused = tell, is_held

    def llm(self, owner: Owner) -> ClientLlm:
        """The model that this owner's clients reach."""
        return ClientLlm(self, owner)

    def take(self, owner: Owner, for_reply: bool = False) -> LlmRequest | None:
        """The owner's oldest prompt that no client has. No other client gets it during the lease."""
        current_time = self._clock()
        for request, waiting in self._waiting.items():
            free = waiting.leased_until <= current_time and not waiting.answered.done()
            wanted = waiting.prompt.for_reply or not for_reply
            if waiting.owner == owner and free and wanted:
                waiting.clients += 1
                waiting.leased_until = current_time + self._params.lease
                return LlmRequest(request, waiting.prompt)
        return None

    def answer(self, owner: Owner, request: str, text: str) -> None:
        """Deliver the model's answer; the first one counts. Raises NotFound if nobody waits for it any more."""
        self._waiting_call(owner, request).answered.set_result(text)

    def refuse(self, owner: Owner, request: str, reason: str) -> None:
        """The client's connection failed. Raises NotFound like `answer`."""
        words = " ".join(reason.split())[:_REASON_CHARACTERS]
        failed = LlmFailed(
            Failure.SERVER,
            phrase(
                "client_failed",
                "the client's own connection failed: {words}",
                words=words,
            ),
        )
        self._waiting_call(owner, request).answered.set_exception(failed)

    def give_back(self, owner: Owner, request: str) -> None:
        """See `LlmDesk`. While another client still has the call, its answer is waited for as before."""
        waiting = self._waiting_call(owner, request)
        if not waiting.clients:
            return
        waiting.clients -= 1
        waiting.leased_until = -math.inf
        if not waiting.clients:
            returned = waiting.answered
            waiting.answered = returned.get_loop().create_future()
            returned.set_result(None)
        self._tell(owner, request, True)

    def _waiting_call(self, owner: Owner, request: str) -> _Waiting:
        waiting = self._waiting.get(request)
        if waiting is None or waiting.owner != owner or waiting.answered.done():
            raise NotFound(
                phrase(
                    "answer_unawaited",
                    "nobody waits for the answer '{request}' any more",
                    request=request,
                )
            )
        return waiting

    async def wait_for(self, owner: Owner, prompt: Prompt) -> str:
        """Offer the prompt to clients until one answers it. Raises LlmFailed."""
        request = secrets.token_hex(12)
        waiting = _Waiting(owner, prompt, asyncio.get_running_loop().create_future())
        self._waiting[request] = waiting
        self._tell(owner, request, True)
        try:
            text = None
            while text is None:
                text = await self._offer(waiting)
            return text
        finally:
            del self._waiting[request]
            self._tell(owner, request, False)

    async def _offer(self, waiting: _Waiting) -> str | None:
        """The answer; None if the call was returned. Raises LlmFailed."""
        answered = waiting.answered
        remaining = min(self._params.fetch, self._params.answer)
        while remaining > 0 and not answered.done():
            step = min(remaining, _STEP)
            await asyncio.wait([answered], timeout=step)
            is_paused = not waiting.clients and self._is_paused()
            is_paused = is_paused and not waiting.prompt.for_reply
            remaining -= 0 if is_paused else step
        if not waiting.clients and not answered.done():
            raise LlmFailed(
                Failure.UNREACHABLE,
                phrase("no_client", "no client with its own connection is open"),
            )
        await asyncio.wait([answered], timeout=max(0.0, self._params.answer - self._params.fetch))
        if not answered.done():
            raise LlmFailed(
                Failure.TIMEOUT,
                phrase(
                    "client_late",
                    "the client did not answer within {seconds} s",
                    seconds=f"{self._params.answer:g}",
                ),
            )
        return answered.result()


def _no_listener(owner: Owner, request: str, waits: bool) -> None:
    """Used until `listen` is called."""


class ClientLlm:
    """The language model that one owner's clients reach."""

    def __init__(self, desk: ClientDesk, owner: Owner) -> None:
        self._desk = desk
        self._owner = owner

    @property
    def name(self) -> str:
        """Always `client`: only the client knows the model."""
        return MODEL

    @property
    def takes_tools(self) -> bool:
        """Never: clients are sent texts alone."""
        return False

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's raw answer; tokens are estimated. Raises LlmFailed."""
        began = time.monotonic()
        text = await self._desk.wait_for(self._owner, prompt)
        if not text.strip():
            raise Unreadable(
                phrase("client_answer_empty", "the client's model gave an empty answer")
            )
        asked = estimate_tokens(prompt.system + prompt.user)
        return Completion(text, asked, estimate_tokens(text), time.monotonic() - began)
