"""How changes and their undoing are told."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from soulmem.domain.audit import AuditEntry
from soulmem.engine.editing.undo import Undone
from soulmem.engine.learning.feedback import FeedbackResult
from soulmem.engine.world.audit import AuditPage
from soulmem.server.answers.common import Answer


class AuditEntryAnswer(Answer, frozen=True):
    """One change; `before` and `after` hold the fields it changed, null where there was nothing."""

    id: str
    at: datetime
    actor: str
    action: str
    target: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    source: str
    reason: str
    undone: bool  # it was taken back since


class AuditAnswer(Answer, frozen=True):
    """A page of the audit, the newest first; `cursor` is null on the last one."""

    audit: list[AuditEntryAnswer]
    cursor: str | None


class SkippedAnswer(Answer, frozen=True):
    """A field that the user changed later, so that it was left alone."""

    target: str
    field: str


class UndoAnswer(Answer, frozen=True):
    """What was taken back: `changes` are entries of the audit, `memories` those that are other now."""

    changes: list[str]
    memories: list[str]
    edges: int
    skipped: list[SkippedAnswer]


class FeedbackAnswer(Answer, frozen=True):
    """What the user thinks of the memory by now; `change` is what POST /v1/undo takes it back by."""

    memory: str
    score: float
    in_doubt: bool
    not_in: list[str]
    edges: int
    change: str


def feedback_answer(judged: FeedbackResult) -> FeedbackAnswer:
    """What a word did."""
    opinion = judged.opinion
    return FeedbackAnswer(
        memory=opinion.memory,
        score=opinion.score,
        in_doubt=opinion.doubted is not None,
        not_in=list(opinion.not_in),
        edges=judged.edges,
        change=judged.change,
    )


def audit_answer(page: AuditPage) -> AuditAnswer:
    """A page of the audit."""
    return AuditAnswer(
        audit=[_entry(entry, undone=entry.id in page.undone) for entry in page.entries],
        cursor=page.cursor,
    )


def undo_answer(undone: Undone) -> UndoAnswer:
    """What undoing did."""
    return UndoAnswer(
        changes=list(undone.changes),
        memories=list(undone.memories),
        edges=undone.edges,
        skipped=[
            SkippedAnswer(target=target, field=name) for target, name in undone.skipped
        ],
    )


def _entry(entry: AuditEntry, *, undone: bool) -> AuditEntryAnswer:
    return AuditEntryAnswer(
        id=entry.id,
        at=entry.at,
        actor=entry.actor.value,
        action=entry.action.value,
        target=entry.target,
        before=None if entry.before is None else dict(entry.before),
        after=None if entry.after is None else dict(entry.after),
        source=entry.source,
        reason=entry.reason,
        undone=undone,
    )
