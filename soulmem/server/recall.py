"""The doors to recall: memories for the next reply, and how an answer came about."""

from __future__ import annotations

from soulmem.server.answers.recall import (
    RecallAnswer,
    TraceAnswer,
    recall_answer,
    trace_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.recall import RecallBody, recall_request


@door("POST", "/v1/recall", query=NoQuery, body=RecallBody, answer=RecallAnswer)
async def recall(call: Call[NoQuery, RecallBody]) -> Reply[RecallAnswer]:
    """Memories for the next reply, cut to the token budget."""
    recalled = await call.engine.recaller.recall(call.owner, recall_request(call.body))
    return Reply(lambda: recall_answer(recalled), rows=len(recalled.memories))


@door("GET", "/v1/traces/{trace}", query=NoQuery, body=None, answer=TraceAnswer)
async def get_trace(call: Call[NoQuery, NoBody]) -> Reply[TraceAnswer]:
    """What a recall considered and cut, and why."""
    trace = await call.engine.recaller.trace(call.owner, call.ids["trace"])
    return Reply(lambda: trace_answer(trace), rows=len(trace.considered))


DOORS = (recall, get_trace)
