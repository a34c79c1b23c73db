"""Routes of recall: memories for the next reply, and the trace of a recall."""

from __future__ import annotations

from soulmem.domain.ids import ChatId
from soulmem.server.json_response import Reply
from soulmem.server.responses.recall import (
    RecallResponse,
    ReplyResponse,
    TraceResponse,
    recall_response,
    reply_response,
    trace_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.recall import (
    RecallBody,
    ReplyBody,
    recall_request,
    reply_request,
    reply_sync,
)


@route("POST", "/v1/recall", query=NoQuery, body=RecallBody, response=RecallResponse)
async def recall(call: Call[NoQuery, RecallBody]) -> Reply[RecallResponse]:
    """Memories for the next reply, cut to the token budget."""
    recalled = await call.engine.recaller.recall(call.owner, recall_request(call.body))
    return Reply(lambda: recall_response(recalled), rows=len(recalled.memories))


@route(
    "POST",
    "/v1/chats/{chat}/recall",
    query=NoQuery,
    body=ReplyBody,
    response=ReplyResponse,
)
async def sync_and_recall(call: Call[NoQuery, ReplyBody]) -> Reply[ReplyResponse]:
    """Make the stored chat equal to the client's, then recall for its next reply."""
    chat = ChatId(call.ids["chat"])
    request = reply_request(chat, call.body)
    sync = await call.convert(lambda: reply_sync(chat, call.body))
    synced, recalled = await call.engine.replies.recall(call.owner, sync, request)
    return Reply(lambda: reply_response(synced, recalled), rows=len(synced.needs_text))


@route("GET", "/v1/traces/{trace}", query=NoQuery, body=None, response=TraceResponse)
async def get_trace(call: Call[NoQuery, NoBody]) -> Reply[TraceResponse]:
    """What a recall considered and left out, and why."""
    trace = await call.engine.recaller.trace(call.owner, call.ids["trace"])
    return Reply(lambda: trace_response(trace), rows=len(trace.considered))


ROUTES = (recall, sync_and_recall, get_trace)
