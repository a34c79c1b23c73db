"""Routes of the audit: the log of changes, the history of a memory, undo, feedback."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.audit import AuditEntry
from soulmem.domain.calendar import within_calendar
from soulmem.domain.change_reasons import reason_of
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.opinions import Verdict
from soulmem.engine.editing.undo import UndoResult
from soulmem.engine.learning.feedback import FeedbackResult
from soulmem.engine.world.audit import AuditPage
from soulmem.server.common_types import (
    Body,
    Cursor,
    Id,
    NoBody,
    NoQuery,
    PageLimit,
    PhraseResponse,
    Query,
    ResponseBody,
    Time,
    phrase_response,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


class AuditQueryParams(Query, frozen=True):
    """Selects entries of a soul's audit."""

    soul: Id
    since: Time | None = None
    limit: PageLimit = 100
    cursor: Cursor | None = None


class HistoryQuery(Query, frozen=True):
    """Selects entries of a memory's history."""

    limit: PageLimit = 100
    cursor: Cursor | None = None


class FeedbackBody(Body, frozen=True):
    """The user's verdict on a recalled memory."""

    trace: Id
    memory: Id
    verdict: Verdict


class UndoBody(Body, frozen=True):
    """What to undo: exactly one of `since`, `change` and `job`."""

    soul: Id
    since: Time | None = None
    change: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    job: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class AuditEntryResponse(ResponseBody, frozen=True):
    """One change. `before` and `after` hold the changed fields; null if there was nothing."""

    id: str
    changed_at: datetime = field(name="at")
    actor: str
    action: str
    target: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    source: str
    reason: str
    undone: bool  # reverted since
    reason_phrase: PhraseResponse | UnsetType = UNSET


class AuditResponse(ResponseBody, frozen=True):
    """A page of the audit, newest first; `cursor` is null on the last page."""

    audit: list[AuditEntryResponse]
    cursor: str | None


class SkippedResponse(ResponseBody, frozen=True):
    """A field that was not reverted because the user changed it later."""

    target: str
    field_name: str = field(name="field")


class UndoResponse(ResponseBody, frozen=True):
    """What was reverted: `changes` are ids of audit entries, `memories` are ids of changed memories."""

    changes: list[str]
    memories: list[str]
    edges: int
    skipped: list[SkippedResponse]


class FeedbackResponse(ResponseBody, frozen=True):
    """The user's rating of the memory after the feedback. POST /v1/undo reverts it by `change`."""

    memory: str
    score: float
    in_doubt: bool
    not_in: list[str]
    edges: int
    change: str


def feedback_response(judged: FeedbackResult) -> FeedbackResponse:
    """The rating after a feedback."""
    opinion = judged.opinion
    return FeedbackResponse(
        memory=opinion.memory,
        score=opinion.score,
        in_doubt=opinion.doubted is not None,
        not_in=list(opinion.not_in),
        edges=judged.edges,
        change=judged.change,
    )


def audit_response(page: AuditPage) -> AuditResponse:
    """A page of the audit."""
    return AuditResponse(
        audit=[_entry(entry, undone=entry.id in page.undone) for entry in page.entries],
        cursor=page.cursor,
    )


def undo_response(undone: UndoResult) -> UndoResponse:
    """What an undo reverted."""
    skipped = [SkippedResponse(target=target, field_name=name) for target, name in undone.skipped]
    return UndoResponse(
        changes=list(undone.changes),
        memories=list(undone.memories),
        edges=undone.edges,
        skipped=skipped,
    )


def _entry(entry: AuditEntry, *, undone: bool) -> AuditEntryResponse:
    return AuditEntryResponse(
        id=entry.id,
        changed_at=entry.moment,
        actor=entry.actor.value,
        action=entry.action.value,
        target=entry.target,
        before=None if entry.before is None else dict(entry.before),
        after=None if entry.after is None else dict(entry.after),
        source=entry.source,
        reason=entry.reason,
        reason_phrase=phrase_response(reason_of(entry.reason)),
        undone=undone,
    )


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
    return Reply(lambda: undo_response(undone), rows=len(undone.memories) + len(undone.skipped))


@route("POST", "/v1/feedback", query=NoQuery, body=FeedbackBody, response=FeedbackResponse)
async def give_feedback(call: Call[NoQuery, FeedbackBody]) -> Reply[FeedbackResponse]:
    """Rate a recalled memory: more of it, wrong, badly timed, or never in this chat."""
    body = call.body
    judged = await call.engine.feedback.give(
        call.owner, body.trace, MemoryId(body.memory), body.verdict
    )
    return Reply(lambda: feedback_response(judged))


ROUTES = (read_audit, read_history, undo, give_feedback)
