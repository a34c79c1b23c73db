"""Requests of the graph, the timeline and the routes of the test mode."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from soulmem.server.schemas.common import Body, Cursor, Id, PageLimit, Query, Time


class GraphQuery(Query, frozen=True):
    """Selects a part of a soul's graph; without `center` the whole, up to `limit` memories."""

    soul: Id
    center: Id | None = None
    hops: Annotated[int, Meta(ge=0, le=10)] = 2
    limit: PageLimit = 200


class TimelineQuery(Query, frozen=True):
    """Selects a span of time; `from` inclusive, `to` exclusive."""

    soul: Id
    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)
    limit: PageLimit = 100
    cursor: Cursor | None = None


class ClockBody(Body, frozen=True):
    """How far to move the clocks."""

    advance_seconds: Annotated[float, Meta(ge=0.0, le=10_000_000_000.0)] = 0.0
    advance_turns: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
