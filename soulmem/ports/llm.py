"""Ports: a language model, and the desk of prompts that a client runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from soulmem.domain.ids import Owner
from soulmem.domain.llm import Completion, ModelChoice, Prompt


class Llm(Protocol):
    """A language model. One call is one request, without retries."""

    @property
    def name(self) -> str:
        """Display name of the model."""
        ...

    @property
    def takes_tools(self) -> bool:
        """Whether a prompt may have tools, as far as is known before a call."""
        ...

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's raw answer, not blank. Reasoning may be left out of it.

        Never blocks the event loop. A cancelled call ends its request at once. Raises LlmFailed.
        """
        ...


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """A prompt that waits for a client."""

    id: str
    prompt: Prompt


# Whose prompt, its id, and whether it waits for a client (again, when one gave it back) or no longer does.
RequestListener = Callable[[Owner, str, bool], None]


class LlmDesk(Protocol):
    """Prompts that wait for a client to run them on its own connection, apart by owner."""

    def listen(self, tell: RequestListener, is_held: Callable[[], bool]) -> None:
        """From now on let `tell` know of prompts that come and go. While `is_held` says that no client gets
        one, it shows nothing that none comes for it. Neither may wait.
        """
        ...

    def take(self, owner: Owner, for_reply: bool = False) -> LlmRequest | None:
        """The oldest prompt that no client has taken; reserved for this client for a while.

        With `for_reply` only one that a reply waits for.
        """
        ...

    def answer(self, owner: Owner, request: str, text: str) -> None:
        """Deliver the model's answer. Raises NotFound when nobody waits for it any more."""
        ...

    def refuse(self, owner: Owner, request: str, reason: str) -> None:
        """The client's connection failed. Raises NotFound like `answer`."""
        ...

    def give_back(self, owner: Owner, request: str) -> None:
        """The client cannot run the prompt after all; no failure: it is free for another client.

        Raises NotFound like `answer`.
        """
        ...


class ModelChoiceFile(Protocol):
    """Keeps the user's choice of the model for memory work, over restarts. Any thread."""

    def read(self) -> ModelChoice:
        """The stored choice; that of the settings where none is stored."""

    def write(self, choice: ModelChoice) -> None:
        """Store a choice. Raises OSError."""
