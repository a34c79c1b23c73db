"""Routes of streams: add events, list them."""

from __future__ import annotations

from soulmem.domain.calendar import within_calendar
from soulmem.domain.errors import span_backwards
from soulmem.domain.ids import SoulId, StreamId
from soulmem.server.json_response import Reply
from soulmem.server.responses.stream_events import (
    AddedResponse,
    StreamEventsResponse,
    added_response,
    events_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.stream_events import EventsBody, EventsQuery, stream_events


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
