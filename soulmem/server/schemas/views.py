"""Requests of the graph, the timeline and the routes of the test mode."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from soulmem.server.schemas.common import (
    Body,
    Cursor,
    Id,
    PageLimit,
    Query,
    Time,
    Words,
)


class GraphQuery(Query, frozen=True):
    """Selects a part of a soul's graph; without `center` the whole, up to `limit` memories.

    `also`: ids of memories that are in it in any case, with commas between. `reads`: also what each of them
    reads now, and its visibility.
    """

    soul: Id
    center: Id | None = None
    hops: Annotated[int, Meta(ge=0, le=10)] = 2
    limit: PageLimit = 200
    layout: bool = False
    also: Words = ""
    reads: bool = False


class HabitsQuery(Query, frozen=True):
    """Selects a page of a soul's habits."""

    soul: Id
    limit: PageLimit = 100
    cursor: Cursor | None = None


class OverviewQuery(Query, frozen=True):
    """Selects the soul that is looked over."""

    soul: Id


class FeelingsQuery(Query, frozen=True):
    """Selects the soul whose feelings are followed over time; `about`: in scenes that mention this concept."""

    soul: Id
    about: Id | None = None
    stretches: Annotated[int, Meta(ge=1, le=100)] = 24


class FadingQuery(Query, frozen=True):
    """Selects what fades within so many turns of the soul's clock.

    `forgetting`: as if the dial stood there. `memory`: this one alone, whether it fades or not.
    """

    soul: Id
    turns: Annotated[int, Meta(ge=1, le=1_000_000)] = 500
    forgetting: Annotated[float, Meta(ge=0.0, le=2.0)] | None = None
    memory: Id | None = None
    limit: PageLimit = 100
    cursor: Cursor | None = None


class TimelineQuery(Query, frozen=True):
    """Selects a span of time; `from` inclusive, `to` exclusive."""

    soul: Id
    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)
    limit: PageLimit = 100
    cursor: Cursor | None = None


class DrawsBody(Body, frozen=True):
    """Draws of the roulette: of which soul, how many, and the seed of the generator."""

    soul: Id
    count: Annotated[int, Meta(ge=1, le=1_000_000)]
    seed: Annotated[int, Meta(ge=0, le=1 << 62)] = 0


class ClockBody(Body, frozen=True):
    """How far to move the clocks."""

    advance_seconds: Annotated[float, Meta(ge=0.0, le=10_000_000_000.0)] = 0.0
    advance_turns: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
