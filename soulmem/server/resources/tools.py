"""Routes of the tools for language models, and of the deletions they request."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from soulmem.domain.audit import Actor
from soulmem.domain.deletions import Deletion
from soulmem.domain.ids import SoulId
from soulmem.engine.tools.definitions import TOOLS
from soulmem.server.common_types import Body, Id, NoBody, NoQuery, Query, ResponseBody
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route

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


@route("GET", "/v1/tools", query=NoQuery, body=None, response=ToolsResponse)
async def list_tools(call: Call[NoQuery, NoBody]) -> Reply[ToolsResponse]:
    """The tools for language models, with JSON Schemas of their arguments."""
    return Reply(tools_response)


@route(
    "POST",
    "/v1/tools/{name}",
    query=NoQuery,
    body=ToolBody,
    response=ToolResultResponse,
)
async def call_tool(call: Call[NoQuery, ToolBody]) -> Reply[ToolResultResponse]:
    """Call a tool as the lead or the archivist. No tool changes a permanent or locked memory."""
    body = call.body
    result = await call.engine.tools.call(
        call.owner,
        call.ids["name"],
        SoulId(body.soul),
        Actor(body.actor),
        body.arguments,
        for_reply=body.for_reply,
    )
    return Reply(lambda: ToolResultResponse(result=result), rows=len(result))


@route("GET", "/v1/deletions", query=DeletionsQuery, body=None, response=DeletionsResponse)
async def list_deletions(
    call: Call[DeletionsQuery, NoBody],
) -> Reply[DeletionsResponse]:
    """Deletions that tools requested, newest first."""
    soul = call.query.soul
    requests = await call.engine.deletions.list(call.owner, None if soul is None else SoulId(soul))
    return Reply(
        lambda: DeletionsResponse(deletions=[deletion_response(d) for d in requests]),
        rows=len(requests),
    )


@route(
    "POST",
    "/v1/deletions/{request}",
    query=NoQuery,
    body=DecisionBody,
    response=DeletionResponse,
)
async def decide_deletion(call: Call[NoQuery, DecisionBody]) -> Reply[DeletionResponse]:
    """Confirm a requested deletion (the memory goes to the bin) or reject it. Possible once."""
    confirmed = call.body.decision == "confirm"
    decided = await call.engine.deletions.decide(
        call.owner, call.ids["request"], confirmed=confirmed
    )
    return Reply(lambda: deletion_response(decided))


ROUTES = (list_tools, call_tool, list_deletions, decide_deletion)
