"""Requests of the audit: history, feedback, undo."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.domain.opinions import Verdict
from soulmem.server.schemas.common import Body, Cursor, Id, PageLimit, Query, Time


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
