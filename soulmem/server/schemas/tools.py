"""What may be asked of tools, and about deletions they asked for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from soulmem.server.schemas.common import Body, Id, Query

ToolActor = Literal["lead", "archivist"]


class ToolBody(Body, frozen=True):
    """A call of a tool; each has its own `arguments`, as GET /v1/tools tells."""

    soul: Id
    actor: ToolActor
    arguments: Annotated[dict[str, Any], Meta(max_length=100)]


class DecisionBody(Body, frozen=True):
    """The user's word about a deletion."""

    decision: Literal["confirm", "reject"]


class DeletionsQuery(Query, frozen=True):
    """Which deletions: those of one soul, or all."""

    soul: Id | None = None
