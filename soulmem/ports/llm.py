"""What answers a prompt, and what it promises."""

from __future__ import annotations

from typing import Protocol

from soulmem.domain.llm import Completion, Prompt


class Llm(Protocol):
    """A language model. One call is one request: nothing is tried again here."""

    @property
    def name(self) -> str:
        """The model as a person would name it."""
        ...

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer, unread; its text is not blank.

        Never blocks the event loop. A cancelled call lets go of its request at once. Raises LlmFailed.
        """
        ...
