"""The configured language models, who may call them, and their health."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from soulmem.domain.errors import NotFound
from soulmem.domain.ids import Owner
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt
from soulmem.domain.phrases import Wording, phrase
from soulmem.engine.runtime.events import Events
from soulmem.ports.llm import Llm, LlmDesk, LlmRequest

LlmOf = Callable[[Owner], Llm]  # the model for calls on behalf of an owner


@dataclass(frozen=True, slots=True)
class LlmSources:
    """The configured models. `desk` holds calls that a client runs on its own connection."""

    archivist: LlmOf | None = None
    desk: LlmDesk | None = None
    context_tokens: int = 4096  # of prompt and answer together
    stop: tuple[Callable[[], Awaitable[None]], ...] = ()  # closes connections


@dataclass(frozen=True, slots=True)
class LlmHealth:
    """`state` is off, ok or error."""

    state: str = "off"
    model: str | None = None


class LlmAccess:
    """Gives access to the models and remembers the outcome of the last call."""

    def __init__(
        self,
        models: LlmSources | Llm | None,
        is_busy: Callable[[], bool],
        events: Events | None = None,
    ) -> None:
        """A single model becomes the archivist of every owner.

        `is_busy` tells whether a reply is being written, so that no call may start.
        """
        if models is None or isinstance(models, LlmSources):
            self._sources = models or LlmSources()
        else:
            self._sources = LlmSources(archivist=lambda _owner: models)
        self._is_busy = is_busy
        self._name: str | None = None
        self._last_error: Wording | None = None
        self._events = events or Events()
        if self._sources.desk is not None:
            self._sources.desk.listen(self._announce, is_busy)

    def _announce(self, owner: Owner, request: str, waits: bool) -> None:
        self._events.publish("llm", owner, request=request, state="waiting" if waits else "over")

    @property
    def context_tokens(self) -> int:
        """Most tokens of prompt and answer together."""
        return self._sources.context_tokens

    @property
    def has_archivist(self) -> bool:
        """Whether an archivist is configured, the model for memory work."""
        return self._sources.archivist is not None

    def archivist(self, owner: Owner) -> Llm | None:
        """The model for memory work; calls through a client go to clients of this owner only."""
        source = self._sources.archivist
        if source is None:
            return None
        return _ObservedLlm(source(owner), partial(self._observe, self._sources))

    def health(self) -> LlmHealth:
        """State and name of the archivist, for `GET /v1/health`."""
        if self._sources.archivist is None:
            return LlmHealth()
        if self._name is None:
            self._name = self._sources.archivist(Owner("")).name
        return LlmHealth("error" if self._last_error else "ok", self._name)

    def notes(self) -> tuple[Wording, ...]:
        """Messages for the user: the last error, if any."""
        return (self._last_error,) if self._last_error else ()

    def take(self, owner: Owner) -> LlmRequest | None:
        """The next call that a client is to run; while a reply is written only one that the reply waits for."""
        desk = self._sources.desk
        return None if desk is None else desk.take(owner, self._is_busy())

    def answer(self, owner: Owner, request: str, text: str | None, error: str | None) -> None:
        """Deliver the result of a client's call: `text`, or else the `error`. Raises NotFound."""
        desk = self._sources.desk
        if desk is None:
            raise NotFound(
                phrase(
                    "answer_unawaited",
                    "nobody waits for the answer '{request}' any more",
                    request=request,
                )
            )
        if text is None:
            desk.refuse(owner, request, error or "no reason given")
        else:
            desk.answer(owner, request, text)

    def give_back(self, owner: Owner, request: str) -> None:
        """Return a call that the client cannot run, so that another client may. Raises NotFound."""
        if self._sources.desk is None:
            raise NotFound(
                phrase(
                    "answer_unawaited",
                    "nobody waits for the answer '{request}' any more",
                    request=request,
                )
            )
        self._sources.desk.give_back(owner, request)

    async def use(self, sources: LlmSources) -> None:
        """Use these models from the next call on, and close the connections of those before."""
        before, self._sources = self._sources, sources
        self._name, self._last_error = None, None
        if sources.desk is not None and sources.desk is not before.desk:
            sources.desk.listen(self._announce, self._is_busy)
        for stop in before.stop:
            await stop()

    async def stop(self) -> None:
        """Close all connections."""
        for stop in self._sources.stop:
            await stop()

    def _observe(self, asked: LlmSources, failed: LlmFailed | None) -> None:
        if asked is not self._sources:
            return  # the user has chosen another model meanwhile
        # A model whose answers cannot be read is reachable all the same.
        if failed is None or failed.kind is Failure.UNREADABLE:
            self._last_error = None
        else:
            self._last_error = failed.wording


class _ObservedLlm:
    """A model that reports the outcome of each call to `observe`: None, or the failure."""

    def __init__(self, llm: Llm, observe: Callable[[LlmFailed | None], None]) -> None:
        self._llm = llm
        self._observe = observe

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._llm.name

    @property
    def takes_tools(self) -> bool:
        """Whether a prompt may have tools."""
        return self._llm.takes_tools

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer. Raises LlmFailed."""
        try:
            answer = await self._llm.complete(prompt)
        except LlmFailed as failed:
            self._observe(failed)
            raise
        self._observe(None)
        return answer
