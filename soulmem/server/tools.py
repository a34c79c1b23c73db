"""Routes of the tools for language models, and of the deletions they request."""

from __future__ import annotations

from soulmem.domain.audit import Actor
from soulmem.domain.ids import SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.tools import (
    DeletionResponse,
    DeletionsResponse,
    ToolResultResponse,
    ToolsResponse,
    deletion_response,
    tools_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.tools import DecisionBody, DeletionsQuery, ToolBody


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


@route(
    "GET", "/v1/deletions", query=DeletionsQuery, body=None, response=DeletionsResponse
)
async def list_deletions(
    call: Call[DeletionsQuery, NoBody],
) -> Reply[DeletionsResponse]:
    """Deletions that tools requested, newest first."""
    soul = call.query.soul
    requests = await call.engine.deletions.list(
        call.owner, None if soul is None else SoulId(soul)
    )
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
