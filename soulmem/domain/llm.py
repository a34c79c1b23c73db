"""Values exchanged with a language model: prompt, completion, and failure of a call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from soulmem.domain.errors import SoulMemError, Unprocessable
from soulmem.domain.phrases import Wording, phrase


class ModelUse(str, Enum):
    """Which language model does memory work."""

    SETTINGS = "settings"  # the one that the settings name
    NONE = "none"
    CLIENT = "client"  # the client's own connection
    SERVER = "server"  # one on a server of its own


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The user's choice of the model for memory work. Raises Unprocessable for one that cannot be asked."""

    use: ModelUse = ModelUse.SETTINGS
    model: str = ""  # its name, where it is on a server
    base_url: str = ""  # of that server; empty: the provider named in `model`
    api_key: str = ""

    def __post_init__(self) -> None:
        if self.use is not ModelUse.SERVER:
            return
        if not self.model.strip() or self.model == ModelUse.CLIENT.value:
            raise Unprocessable(
                phrase(
                    "model_unnamed",
                    "'{model}' is no name of a model: write the name that the server gives it",
                    model=self.model,
                ),
                field="model",
            )
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise Unprocessable(
                phrase(
                    "model_no_address",
                    "'{url}' is no address: write it like http://127.0.0.1:5001/v1",
                    url=self.base_url,
                ),
                field="base_url",
            )

    @property
    def server(self) -> str:
        """What the key belongs to: the address, or without one the provider, the start of the model's name."""
        return self.base_url or self.model.partition("/")[0]

    def __repr__(self) -> str:
        key = "***" if self.api_key else ""
        return f"ModelChoice({self.use.value}, {self.base_url!r}, {self.model!r}, {key!r})"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as told to a model; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A model's wish to call a tool. `arguments` is JSON as the model wrote it."""

    id: str  # the server's, empty where it gives none
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """An earlier answer of the model that called tools, with the result of each as JSON."""

    requests: tuple[ToolRequest, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The tools that an answer may call, and the turns so far. Only for servers that take tools."""

    tools: tuple[ToolSpec, ...]
    turns: tuple[ToolTurn, ...] = ()


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
    tools: ToolUse | None = None
    # A reply that is being written waits for the answer: it may be asked for beside the reply.
    for_reply: bool = False

    def texts(self) -> Iterator[str]:
        """All texts that are sent."""
        yield from (self.system, self.user)
        if self.tools is None:
            return
        for tool in self.tools.tools:
            yield from (tool.name, tool.description, json.dumps(tool.parameters))
        for turn in self.tools.turns:
            for request in turn.requests:
                yield from (request.name, request.arguments)
            yield from turn.results


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer. Token counts are the server's, or estimates where it gives none."""

    text: str  # as it came: blocks of reasoning, prose around JSON and all
    prompt_tokens: int
    answer_tokens: int
    seconds: float  # from the call to the answer
    requests: tuple[ToolRequest, ...] = ()  # tools that it calls; then `text` may be empty


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

    def __init__(self, kind: Failure, wording: Wording) -> None:
        super().__init__(wording)
        self.kind = kind


class Unreadable(LlmFailed):
    """The answer contains nothing usable; the message is the reason, without the answer."""

    def __init__(self, reason: Wording) -> None:
        super().__init__(Failure.UNREADABLE, reason)
