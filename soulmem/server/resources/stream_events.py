"""Routes of streams: add events, list them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, field

from soulmem.domain.calendar import bounded, within_calendar
from soulmem.domain.errors import span_backwards
from soulmem.domain.ids import SoulId, StreamId
from soulmem.domain.streams import StreamEvent
from soulmem.engine.digests.streams import Added, EventPage
from soulmem.server.common_types import (
    Body,
    Cursor,
    Id,
    NoBody,
    NoQuery,
    PageLimit,
    Query,
    ResponseBody,
    Time,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


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


class AddedResponse(ResponseBody, frozen=True):
    """How many events were new, and how many the stream had already."""

    added: int
    known: int


class EventResponse(ResponseBody, frozen=True):
    """An event of a stream."""

    id: str
    moment: datetime = field(name="at")
    speaker: str
    text: str


class StreamEventsResponse(ResponseBody, frozen=True):
    """A page of events by time; `cursor` is null on the last page."""

    events: list[EventResponse]
    cursor: str | None


def added_response(added: Added) -> AddedResponse:
    """What became of a batch."""
    return AddedResponse(added=added.added, known=added.known)


def events_response(page: EventPage) -> StreamEventsResponse:
    """A page of events."""
    events = [
        EventResponse(id=e.id, moment=e.moment, speaker=e.speaker, text=e.text) for e in page.events
    ]
    return StreamEventsResponse(events=events, cursor=page.cursor)


@route(
    "POST",
    "/v1/streams/{stream}",
    query=NoQuery,
    body=EventsBody,
    response=AddedResponse,
)
async def add_events(call: Call[NoQuery, EventsBody]) -> Reply[AddedResponse]:
    """Add events to a stream; those that it has already change nothing."""
    stream, soul = StreamId(call.ids["stream"]), SoulId(call.body.soul)
    events = await call.convert(lambda: stream_events(stream, call.body))
    added = await call.engine.streams.add(call.owner, soul, stream, events)
    return Reply(lambda: added_response(added))


@route(
    "GET",
    "/v1/streams/{stream}",
    query=EventsQuery,
    body=None,
    response=StreamEventsResponse,
)
async def list_events(call: Call[EventsQuery, NoBody]) -> Reply[StreamEventsResponse]:
    """The events of a stream by time, page by page."""
    query = call.query
    span = within_calendar(query.start), within_calendar(query.end)
    if span[0] is not None and span[1] is not None and span[1] <= span[0]:
        raise span_backwards("to")
    page = await call.engine.streams.page(
        call.owner,
        SoulId(query.soul),
        StreamId(call.ids["stream"]),
        span,
        query.limit,
        query.cursor,
    )
    return Reply(lambda: events_response(page), rows=len(page.events))


ROUTES = (add_events, list_events)
