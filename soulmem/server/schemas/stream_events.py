"""Requests of streams: events to add, and which of them to list."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from soulmem.domain.calendar import bounded
from soulmem.domain.ids import StreamId
from soulmem.domain.streams import StreamEvent
from soulmem.server.schemas.common import (
    Body,
    Cursor,
    Id,
    PageLimit,
    Query,
    Time,
)


class EventBody(Body, frozen=True):
    """An event of a stream. An id that the stream has already changes nothing."""

    id: Id
    moment: Time = field(name="at")
    speaker: Annotated[str, Meta(min_length=1, max_length=2_000)]
    text: Annotated[str, Meta(min_length=1, max_length=10_000)]


class EventsBody(Body, frozen=True):
    """Events of a stream that a soul is on; all of them are added, or none."""

    soul: Id
    events: Annotated[list[EventBody], Meta(max_length=10_000)]


class EventsQuery(Query, frozen=True):
    """Selects events of a stream; `from` inclusive, `to` exclusive."""

    soul: Id
    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)
    limit: PageLimit = 100
    cursor: Cursor | None = None


def stream_events(stream: StreamId, body: EventsBody) -> list[StreamEvent]:
    """The engine's events. Raises Unprocessable."""
    return [
        StreamEvent(stream, event.id, bounded(event.moment), event.speaker, event.text)
        for event in body.events
    ]
