"""Routes of recall: memories for the next reply, and the trace of a recall."""

from __future__ import annotations

from soulmem.server.json_response import Reply
from soulmem.server.responses.recall import (
    RecallResponse,
    TraceResponse,
    recall_response,
    trace_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.recall import RecallBody, recall_request


@route("POST", "/v1/recall", query=NoQuery, body=RecallBody, response=RecallResponse)
async def recall(call: Call[NoQuery, RecallBody]) -> Reply[RecallResponse]:
    """Memories for the next reply, cut to the token budget."""
    recalled = await call.engine.recaller.recall(call.owner, recall_request(call.body))
    return Reply(lambda: recall_response(recalled), rows=len(recalled.memories))


@route("GET", "/v1/traces/{trace}", query=NoQuery, body=None, response=TraceResponse)
async def get_trace(call: Call[NoQuery, NoBody]) -> Reply[TraceResponse]:
    """What a recall considered and left out, and why."""
    trace = await call.engine.recaller.trace(call.owner, call.ids["trace"])
    return Reply(lambda: trace_response(trace), rows=len(trace.considered))


ROUTES = (recall, get_trace)
