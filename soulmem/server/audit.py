"""Routes of the audit: the log of changes, the history of a memory, undo, feedback."""

from __future__ import annotations

from soulmem.domain.calendar import within_calendar
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.audit import (
    AuditResponse,
    FeedbackResponse,
    UndoResponse,
    audit_response,
    feedback_response,
    undo_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.audit import (
    AuditQueryParams,
    FeedbackBody,
    HistoryQuery,
    UndoBody,
)
from soulmem.server.schemas.common import NoBody, NoQuery


@route("GET", "/v1/audit", query=AuditQueryParams, body=None, response=AuditResponse)
async def read_audit(call: Call[AuditQueryParams, NoBody]) -> Reply[AuditResponse]:
    """Changes to a soul's memory and who made them, newest first."""
    query = call.query
    page = await call.engine.history.audit(
        call.owner,
        SoulId(query.soul),
        within_calendar(query.since),
        query.limit,
        query.cursor,
    )
    return Reply(lambda: audit_response(page), rows=len(page.entries))


@route(
    "GET",
    "/v1/memories/{memory}/history",
    query=HistoryQuery,
    body=None,
    response=AuditResponse,
)
async def read_history(call: Call[HistoryQuery, NoBody]) -> Reply[AuditResponse]:
    """Changes to one memory, newest first."""
    query = call.query
    page = await call.engine.history.of_memory(
        call.owner, MemoryId(call.ids["memory"]), query.limit, query.cursor
    )
    return Reply(lambda: audit_response(page), rows=len(page.entries))


@route("POST", "/v1/undo", query=NoQuery, body=UndoBody, response=UndoResponse)
async def undo(call: Call[NoQuery, UndoBody]) -> Reply[UndoResponse]:
    """Revert automatic changes. Changes by the user or by a sync are never reverted."""
    body = call.body
    undone = await call.engine.history.undo(
        call.owner,
        SoulId(body.soul),
        since=within_calendar(body.since),
        change=body.change,
        job=body.job,
    )
    return Reply(
        lambda: undo_response(undone), rows=len(undone.memories) + len(undone.skipped)
    )


@route(
    "POST", "/v1/feedback", query=NoQuery, body=FeedbackBody, response=FeedbackResponse
)
async def give_feedback(call: Call[NoQuery, FeedbackBody]) -> Reply[FeedbackResponse]:
    """Rate a recalled memory: more of it, wrong, badly timed, or never in this chat."""
    body = call.body
    judged = await call.engine.feedback.give(
        call.owner, body.trace, MemoryId(body.memory), body.verdict
    )
    return Reply(lambda: feedback_response(judged))


ROUTES = (read_audit, read_history, undo, give_feedback)
