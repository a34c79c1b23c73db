"""Requests of the tools for language models, and of the deletions they request."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from soulmem.server.schemas.common import Body, Id, Query

ToolActor = Literal["lead", "archivist"]


class ToolBody(Body, frozen=True):
    """A tool call. GET /v1/tools lists the `arguments` of each tool."""

    soul: Id
    actor: ToolActor
    arguments: Annotated[dict[str, Any], Meta(max_length=100)]
    for_reply: Annotated[
        bool,
        Meta(description="A reply that is being written waits for the result."),
    ] = False


class DecisionBody(Body, frozen=True):
    """The user's decision about a requested deletion."""

    decision: Literal["confirm", "reject"]


class DeletionsQuery(Query, frozen=True):
    """Selects the deletions of one soul, or all."""

    soul: Id | None = None
