"""What passes between SoulMem and a language model: a prompt, its completion, and how a call fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from soulmem.domain.errors import SoulMemError


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call: what the model is told, and how its answer should look."""

    name: str  # of the prompt's file
    version: int  # a change of wording raises it; recorded replies are kept by both
    system: str
    user: str
    schema: (
        Mapping[str, object] | None
    )  # JSON Schema of the answer; a model may break it all the same
    max_tokens: int  # of the answer


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered. A count of tokens is the server's, or an estimate where it tells none."""

    text: str  # as it came: blocks of reasoning, prose around JSON and all
    prompt_tokens: int
    answer_tokens: int
    seconds: float  # from the call to the answer


class Failure(str, Enum):
    """Why a call brought nothing."""

    UNREACHABLE = "unreachable"  # nobody listens: the model saw nothing of it
    TIMEOUT = "timeout"
    REFUSED = "refused"  # wrong key, unknown model, too long: the same call fails again
    SERVER = "server"  # the server broke down, or is too busy
    UNREADABLE = "unreadable"  # answered, but with nothing to use


class LlmFailed(SoulMemError):
    """A call to a language model brought nothing; the message says which model and why, never a key."""

    code = "llm"

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Unreadable(LlmFailed):
    """A model answered, and nothing in it can be used; the message is the reason, without the answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(Failure.UNREADABLE, reason)
