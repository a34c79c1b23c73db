"""Values exchanged with a language model: prompt, completion, and failure of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from soulmem.domain.errors import SoulMemError


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call: the texts sent, and the format of the answer."""

    name: str  # of the prompt's file
    version: int  # a change of wording raises it; recorded replies are kept by both
    system: str
    user: str
    # JSON Schema of the answer; a model may break it all the same
    schema: Mapping[str, object] | None
    max_tokens: int  # of the answer


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer. Token counts are the server's, or estimates where it gives none."""

    text: str  # as it came: blocks of reasoning, prose around JSON and all
    prompt_tokens: int
    answer_tokens: int
    seconds: float  # from the call to the answer


class Failure(str, Enum):
    """Reason why a call brought no answer."""

    UNREACHABLE = "unreachable"  # nobody listens: the model saw nothing of it
    TIMEOUT = "timeout"
    REFUSED = "refused"  # wrong key, unknown model, too long: the same call fails again
    SERVER = "server"  # the server broke down, or is too busy
    UNREADABLE = "unreadable"  # answered, but with nothing to use


class LlmFailed(SoulMemError):
    """A call to a language model failed; the message names model and reason, never a key."""

    code = "llm"

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Unreadable(LlmFailed):
    """The answer contains nothing usable; the message is the reason, without the answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(Failure.UNREADABLE, reason)
