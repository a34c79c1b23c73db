"""The doors to what was changed: the audit, a memory's history, undoing."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.server.answers.audit import (
    AuditAnswer,
    FeedbackAnswer,
    UndoAnswer,
    audit_answer,
    feedback_answer,
    undo_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.audit import (
    AuditQueryParams,
    FeedbackBody,
    HistoryQuery,
    UndoBody,
)
from soulmem.server.schemas.common import NoBody, NoQuery, utc


@door("GET", "/v1/audit", query=AuditQueryParams, body=None, answer=AuditAnswer)
async def read_audit(call: Call[AuditQueryParams, NoBody]) -> Reply[AuditAnswer]:
    """Who changed what in a soul's memory, the newest first."""
    query = call.query
    page = await call.engine.history.audit(
        call.owner,
        SoulId(query.soul),
        utc(query.since, "since"),
        query.limit,
        query.cursor,
    )
    return Reply(lambda: audit_answer(page), rows=len(page.entries))


@door(
    "GET",
    "/v1/memories/{memory}/history",
    query=HistoryQuery,
    body=None,
    answer=AuditAnswer,
)
async def read_history(call: Call[HistoryQuery, NoBody]) -> Reply[AuditAnswer]:
    """What was done to a memory, the newest first."""
    query = call.query
    page = await call.engine.history.of_memory(
        call.owner, MemoryId(call.ids["memory"]), query.limit, query.cursor
    )
    return Reply(lambda: audit_answer(page), rows=len(page.entries))


@door("POST", "/v1/undo", query=NoQuery, body=UndoBody, answer=UndoAnswer)
async def undo(call: Call[NoQuery, UndoBody]) -> Reply[UndoAnswer]:
    """Revert automatic changes; never the user's own, nor what a sync derived."""
    body = call.body
    undone = await call.engine.history.undo(
        call.owner,
        SoulId(body.soul),
        since=utc(body.since, "since"),
        change=body.change,
        job=body.job,
    )
    return Reply(
        lambda: undo_answer(undone), rows=len(undone.memories) + len(undone.skipped)
    )


@door("POST", "/v1/feedback", query=NoQuery, body=FeedbackBody, answer=FeedbackAnswer)
async def give_feedback(call: Call[NoQuery, FeedbackBody]) -> Reply[FeedbackAnswer]:
    """Say of a recalled memory that it is to come up more, is wrong, came at a bad time, or never here."""
    body = call.body
    judged = await call.engine.feedback.give(
        call.owner, body.trace, MemoryId(body.memory), body.verdict
    )
    return Reply(lambda: feedback_answer(judged))


DOORS = (read_audit, read_history, undo, give_feedback)
