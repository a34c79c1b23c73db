"""The doors for language models, and the user's word about what they ask to delete."""

from __future__ import annotations

from soulmem.domain.audit import Actor
from soulmem.domain.ids import SoulId
from soulmem.server.answers.tools import (
    DeletionAnswer,
    DeletionsAnswer,
    ToolResultAnswer,
    ToolsAnswer,
    deletion_answer,
    tools_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.tools import DecisionBody, DeletionsQuery, ToolBody


@door("GET", "/v1/tools", query=NoQuery, body=None, answer=ToolsAnswer)
async def list_tools(call: Call[NoQuery, NoBody]) -> Reply[ToolsAnswer]:
    """The tools that language models get, with JSON Schemas of their arguments."""
    return Reply(tools_answer)


@door("POST", "/v1/tools/{name}", query=NoQuery, body=ToolBody, answer=ToolResultAnswer)
async def call_tool(call: Call[NoQuery, ToolBody]) -> Reply[ToolResultAnswer]:
    """Call a tool as the lead or the archivist; none touches a permanent or locked memory."""
    body = call.body
    result = await call.engine.tools.call(
        call.owner,
        call.ids["name"],
        SoulId(body.soul),
        Actor(body.actor),
        body.arguments,
    )
    return Reply(lambda: ToolResultAnswer(result=result), rows=len(result))


@door("GET", "/v1/deletions", query=DeletionsQuery, body=None, answer=DeletionsAnswer)
async def list_deletions(call: Call[DeletionsQuery, NoBody]) -> Reply[DeletionsAnswer]:
    """What tools ask to delete, the latest first."""
    soul = call.query.soul
    found = await call.engine.deletions.list(
        call.owner, None if soul is None else SoulId(soul)
    )
    return Reply(
        lambda: DeletionsAnswer(deletions=[deletion_answer(d) for d in found]),
        rows=len(found),
    )


@door(
    "POST",
    "/v1/deletions/{request}",
    query=NoQuery,
    body=DecisionBody,
    answer=DeletionAnswer,
)
async def decide_deletion(call: Call[NoQuery, DecisionBody]) -> Reply[DeletionAnswer]:
    """Confirm a deletion, which moves the memory to the bin, or reject it; once."""
    confirmed = call.body.decision == "confirm"
    decided = await call.engine.deletions.decide(
        call.owner, call.ids["request"], confirmed=confirmed
    )
    return Reply(lambda: deletion_answer(decided))


DOORS = (list_tools, call_tool, list_deletions, decide_deletion)
