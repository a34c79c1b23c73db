"""A language model that answers from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from soulmem.domain.llm import Completion, Failure, LlmFailed, Prompt, Unreadable

Reply = str | Completion | LlmFailed | Callable[[Prompt], str]


class FakeLlm:
    """Gives the replies one by one and then the last one for ever; an LlmFailed is raised.

    `asked` collects the prompts. While `answers` is clear every call waits, `waiting` counts those.
    Tokens are counted as one for four letters.
    """

    def __init__(
        self,
        *replies: Reply,
        name: str = "fake",
        seconds: float = 0.0,
        takes_tools: bool = False,
    ) -> None:
        self.name = name
        self.takes_tools = takes_tools
        self.seconds = seconds  # until an answer comes
        self.asked: list[Prompt] = []
        self.answers = asyncio.Event()
        self.answers.set()
        self.waiting = 0
        self._replies: list[Reply] = list(replies)

    def then(self, replies: Iterable[Reply]) -> None:
        """Forget the script: from now on these."""
        self._replies = list(replies)

    async def complete(self, prompt: Prompt) -> Completion:
        """The next reply."""
        self.asked.append(prompt)
        reply = self._next()
        self.waiting += 1
        try:
            await self.answers.wait()
            await asyncio.sleep(self.seconds)
        finally:
            self.waiting -= 1
        if isinstance(reply, LlmFailed):
            raise reply
        if isinstance(reply, Completion):
            return reply
        text = reply if isinstance(reply, str) else reply(prompt)
        if not text.strip():
            raise Unreadable(f"{self.name} gave an empty answer")
        return Completion(text, _tokens(prompt.system + prompt.user), _tokens(text), self.seconds)

    def _next(self) -> Reply:
        if not self._replies:
            return LlmFailed(Failure.UNREACHABLE, f"{self.name} has no reply left")
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


def _tokens(text: str) -> int:
    return (len(text) + 3) // 4
