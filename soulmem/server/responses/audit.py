"""Responses of the audit: changes, undo, feedback."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType, field

from soulmem.domain.audit import AuditEntry
from soulmem.domain.change_reasons import reason_of
from soulmem.engine.editing.undo import UndoResult
from soulmem.engine.learning.feedback import FeedbackResult
from soulmem.engine.world.audit import AuditPage
from soulmem.server.responses.common import (
    PhraseResponse,
    ResponseBody,
    phrase_response,
)


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
    skipped = [
        SkippedResponse(target=target, field_name=name)
        for target, name in undone.skipped
    ]
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
