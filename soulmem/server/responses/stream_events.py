"""Responses of streams: what was added, and pages of events."""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from soulmem.engine.consolidation.streams import Added, EventPage
from soulmem.server.responses.common import ResponseBody


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
        EventResponse(id=e.id, moment=e.moment, speaker=e.speaker, text=e.text)
        for e in page.events
    ]
    return StreamEventsResponse(events=events, cursor=page.cursor)
