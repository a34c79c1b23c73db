"""Responses of the tools for language models, and of the deletions they request."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import field

from soulmem.domain.deletions import Deletion
from soulmem.engine.tools.definitions import TOOLS
from soulmem.server.responses.common import ResponseBody


class ToolResponse(ResponseBody, frozen=True):
    """A tool as described to a model; `parameters` is a JSON Schema."""

    name: str
    actor: str
    description: str
    parameters: dict[str, Any]


class ToolsResponse(ResponseBody, frozen=True):
    """All tools. A tool that both models have is listed twice."""

    tools: list[ToolResponse]


class ToolResultResponse(ResponseBody, frozen=True):
    """The result of a tool call."""

    result: dict[str, Any]


class DeletionResponse(ResponseBody, frozen=True):
    """A requested deletion; `state` is awaiting_confirmation, confirmed, rejected or expired."""

    request: str
    soul: str
    memory: str
    actor: str
    reason: str
    quote: str
    requested_at: datetime = field(name="at")
    state: str
    decided: datetime | None


class DeletionsResponse(ResponseBody, frozen=True):
    """Requested deletions, newest first."""

    deletions: list[DeletionResponse]
    cursor: str | None = None


def tools_response() -> ToolsResponse:
    """All tools, once for each actor that may call them."""
    tools = []
    for tool in TOOLS.values():
        for actor in tool.takes:
            described = ToolResponse(
                name=tool.name,
                actor=actor.value,
                description=tool.description(actor),
                parameters=tool.schema(actor),
            )
            tools.append(described)
    return ToolsResponse(tools=tools)


def deletion_response(deletion: Deletion) -> DeletionResponse:
    """One deletion."""
    return DeletionResponse(
        request=deletion.id,
        soul=deletion.soul,
        memory=deletion.memory,
        actor=deletion.actor.value,
        reason=deletion.reason,
        quote=deletion.quote,
        requested_at=deletion.requested,
        state=deletion.state.value,
        decided=deletion.decided,
    )
