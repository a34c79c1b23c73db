"""Which language models are there, who may call them, and how are they?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from soulmem.domain.errors import NotFound
from soulmem.domain.ids import Owner
from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt
from soulmem.engine.runtime.events import Events
from soulmem.ports.llm import Llm, LlmDesk, LlmRequest

LlmOf = Callable[[Owner], Llm]  # a model as one owner reaches it


@dataclass(frozen=True, slots=True)
class LlmSources:
    """The models of the settings."""

    archivist: LlmOf | None = None
    desk: LlmDesk | None = (
        None  # where calls wait that a client runs on its own connection
    )
    context_tokens: int = 4096  # of prompt and answer together
    stop: tuple[Callable[[], Awaitable[None]], ...] = ()


@dataclass(frozen=True, slots=True)
class LlmHealth:
    """`state` is off, ok or error."""

    state: str = "off"
    model: str | None = None


class LlmAccess:
    """Hands out the models and remembers how their last call went."""

    def __init__(
        self,
        given: LlmSources | Llm | None,
        is_busy: Callable[[], bool],
        events: Events | None = None,
    ) -> None:
        """One model alone keeps the memory of every owner.

        `is_busy`: whether a reply is being written, so that no call may start.
        """
        if given is None or isinstance(given, LlmSources):
            self._sources = given or LlmSources()
        else:
            self._sources = LlmSources(archivist=lambda _owner: given)
        self._is_busy = is_busy
        self._name: str | None = None
        self._trouble: str | None = None
        self._events = events or Events()
        if self._sources.desk is not None:
            self._sources.desk.listen(self._waits, is_busy)

    def _waits(self, owner: Owner, request: str, waits: bool) -> None:
        self._events.tell(
            "llm", owner, request=request, state="waiting" if waits else "over"
        )

    @property
    def context_tokens(self) -> int:
        """How many tokens prompt and answer may have together."""
        return self._sources.context_tokens

    @property
    def has_archivist(self) -> bool:
        """Whether there is a model that keeps the memory."""
        return self._sources.archivist is not None

    def archivist(self, owner: Owner) -> Llm | None:
        """The model that keeps the memory, for chats of this owner: no other's client sees them."""
        return self._watched(self._sources.archivist, owner)

    def health(self) -> LlmHealth:
        """How the archivist is, as `GET /v1/health` tells it."""
        if self._sources.archivist is None:
            return LlmHealth()
        if self._name is None:
            self._name = self._sources.archivist(Owner("")).name
        return LlmHealth("error" if self._trouble else "ok", self._name)

    def notes(self) -> tuple[str, ...]:
        """What the user should know, in words."""
        return (self._trouble,) if self._trouble else ()

    def take(self, owner: Owner) -> LlmRequest | None:
        """A call for the client's own connection; none while a reply is being written."""
        desk = self._sources.desk
        return None if desk is None or self._is_busy() else desk.take(owner)

    def answer(
        self, owner: Owner, request: str, text: str | None, error: str | None
    ) -> None:
        """What became of such a call: `text`, or the `error`. Raises NotFound."""
        desk = self._sources.desk
        if desk is None:
            raise NotFound(f"nobody waits for the answer {request!r}")
        if text is None:
            desk.refuse(owner, request, error or "no reason given")
        else:
            desk.answer(owner, request, text)

    def give_back(self, owner: Owner, request: str) -> None:
        """The client cannot run such a call after all; another may. Raises NotFound."""
        if self._sources.desk is None:
            raise NotFound(f"nobody waits for the answer {request!r}")
        self._sources.desk.give_back(owner, request)

    async def stop(self) -> None:
        """Let go of all connections."""
        for stop in self._sources.stop:
            await stop()

    def _watched(self, source: LlmOf | None, owner: Owner) -> Llm | None:
        return None if source is None else _Watched(source(owner), self._went)

    def _went(self, failed: LlmFailed | None) -> None:
        # A model that answers nonsense is there all the same.
        wrong = failed is not None and failed.kind is not Failure.UNREADABLE
        self._trouble = failed.message if wrong and failed is not None else None


class _Watched:
    """A model whose calls are looked at."""

    def __init__(self, llm: Llm, went: Callable[[LlmFailed | None], None]) -> None:
        self._llm = llm
        self._went = went

    @property
    def name(self) -> str:
        """The model's own."""
        return self._llm.name

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer. Raises LlmFailed."""
        try:
            answer = await self._llm.complete(prompt)
        except LlmFailed as failed:
            self._went(failed)
            raise
        self._went(None)
        return answer
