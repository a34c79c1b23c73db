"""What answers a prompt, and what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from soulmem.domain.ids import Owner
from soulmem.domain.llm import Completion, Prompt


class Llm(Protocol):
    """A language model. One call is one request: nothing is tried again here."""

    @property
    def name(self) -> str:
        """The model as a person would name it."""
        ...

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer, unread; its text is not blank. Reasoning may be left out of it.

        Never blocks the event loop. A cancelled call lets go of its request at once. Raises LlmFailed.
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
    """Where prompts wait for a client that runs them on its own connection; each for its owner's alone."""

    def listen(self, tell: RequestListener, is_held: Callable[[], bool]) -> None:
        """From now on let `tell` know of prompts that come and go. While `is_held` says that no client gets
        one, it shows nothing that none comes for it. Neither may wait.
        """
        ...

    def take(self, owner: Owner) -> LlmRequest | None:
        """The oldest prompt that no client has now; it is this one's for a while."""
        ...

    def answer(self, owner: Owner, request: str, text: str) -> None:
        """What the model answered. Raises NotFound when nobody waits for it any more."""
        ...

    def refuse(self, owner: Owner, request: str, reason: str) -> None:
        """The client's connection failed. Raises NotFound like `answer`."""
        ...

    def give_back(self, owner: Owner, request: str) -> None:
        """The client that has it cannot run it after all, which is no failure: it is free for the next.

        Raises NotFound like `answer`.
        """
        ...
