"""Routes of the views: fading, feelings, graph, habits, overview and timeline."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from msgspec import Meta, field

from soulmem.domain.calendar import within_calendar
from soulmem.domain.digests import Period
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.engine.api.results import HabitPage, HabitView, Page
from soulmem.engine.views.fading_ahead import FadingMemory, FadingPage, Horizon
from soulmem.engine.views.listed_rows import Density
from soulmem.engine.views.overview import Overview
from soulmem.server.common_types import (
    Cursor,
    Id,
    NoBody,
    PageLimit,
    Query,
    ResponseBody,
    Time,
    Words,
)
from soulmem.server.replies import Reply
from soulmem.server.resources.memories import DensityQuery, density_filter
from soulmem.server.resources.memory_responses import (
    GraphResponse,
    ListedMemory,
    TimelineResponse,
    graph_response,
    listed_memory,
    timeline_response,
)
from soulmem.server.resources.people import FeelingsResponse, feelings_response
from soulmem.server.routes import Call, route


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


class FadingMemoryResponse(ResponseBody, frozen=True):
    """A memory as it reads now, and then if nothing recalls it; `visibility` and `importance` 0..1.

    `reads_then`: as a prompt will tell it; `text_then`: with the mark `xxx(gist)` for each part that has blurred.
    `leaves`: by then it says too little to be kept, and is in the bin.
    """

    id: str
    kind: str
    importance: float
    text: str
    text_then: str
    reads_then: str
    visibility: float
    visibility_then: float
    leaves: bool


class FadingResponse(ResponseBody, frozen=True):
    """A page of what fades, what loses most first; `cursor` is null on the last page."""

    memories: list[FadingMemoryResponse]
    cursor: str | None


def fading_response(page: FadingPage) -> FadingResponse:
    """A page of what fades."""
    return FadingResponse(
        memories=[_memory(fading) for fading in page.memories], cursor=page.cursor
    )


def _memory(fading: FadingMemory) -> FadingMemoryResponse:
    return FadingMemoryResponse(
        id=fading.memory.id,
        kind=fading.memory.kind.value,
        importance=fading.memory.importance,
        text=fading.now.text,
        text_then=fading.marked_then,
        reads_then=fading.then.text,
        visibility=fading.now.visibility,
        visibility_then=fading.then.visibility,
        leaves=fading.leaves,
    )


class HabitActionResponse(ResponseBody, frozen=True):
    """An action; `probability`, 0..1, is null of one that no trigger sets off."""

    memory: ListedMemory
    probability: float | None


class HabitResponse(ResponseBody, frozen=True):
    """A trigger, what sets it off and what it sets off; `trigger` is null of an action by itself."""

    trigger: str | None
    situations: list[ListedMemory]
    actions: list[HabitActionResponse]


class HabitsResponse(ResponseBody, frozen=True):
    """A page of habits, the newest first; `cursor` is null on the last page."""

    habits: list[HabitResponse]
    cursor: str | None


def habits_response(page: HabitPage) -> HabitsResponse:
    """A page of habits."""
    return HabitsResponse(habits=list(map(_habit, page.habits)), cursor=page.cursor)


def _habit(habit: HabitView) -> HabitResponse:
    return HabitResponse(
        trigger=habit.trigger,
        situations=list(map(listed_memory, habit.situations)),
        actions=[
            HabitActionResponse(memory=listed_memory(action.view), probability=action.probability)
            for action in habit.actions
        ],
    )


class FeltResponse(ResponseBody, frozen=True):
    """What the soul felt last, 0..1, and in which memory."""

    label: str
    intensity: float
    memory: str
    text: str


class OverviewResponse(ResponseBody, frozen=True):
    """Numbers of memories in use.

    `memories` are episodes, kinds of episodes, notes and facts; `today` took place within the last day.
    """

    memories: int
    permanent: int
    today: int
    habits: int
    felt: FeltResponse | None


def overview_response(seen: Overview) -> OverviewResponse:
    """The overview of a soul."""
    felt = None
    if seen.felt is not None and seen.feeling is not None:
        felt = FeltResponse(
            label=seen.feeling.label,
            intensity=seen.feeling.intensity,
            memory=seen.felt.id,
            text=seen.felt.text,
        )
    return OverviewResponse(
        memories=seen.memories,
        permanent=seen.permanent,
        today=seen.today,
        habits=seen.habits,
        felt=felt,
    )


class ShareResponse(ResponseBody, frozen=True):
    """How many memories a day, week or month has; `to` is exclusive."""

    start: datetime = field(name="from")
    end: datetime = field(name="to")
    count: int


class DensityResponse(ResponseBody, frozen=True):
    """How many memories lie in equal shares of the time between; without any, `from` and `to` are null.

    `periods` are those that have any, the earliest first.
    """

    start: datetime | None = field(name="from")
    end: datetime | None = field(name="to")
    counts: list[int]
    periods: list[ShareResponse]


def density_response(density: Density) -> DensityResponse:
    """How memories lie along time."""
    return DensityResponse(
        start=density.start,
        end=density.end,
        counts=list(density.counts),
        periods=[ShareResponse(p.start, p.end, p.count) for p in density.periods],
    )


@route("GET", "/v1/graph", query=GraphQuery, body=None, response=GraphResponse)
async def read_graph(call: Call[GraphQuery, NoBody]) -> Reply[GraphResponse]:
    """A soul's graph, or the part around one memory."""
    query = call.query
    center = MemoryId(query.center) if query.center else None
    also = [MemoryId(key) for key in query.also.split(",") if key]
    view = await call.engine.memories.graph(
        call.owner, SoulId(query.soul), center, query.hops, query.limit, also
    )
    if query.reads:
        page = Page(view.memories, None)
        page = await call.engine.overviews.as_read(call.owner, SoulId(query.soul), page)
        view = replace(view, memories=page.memories)
    if query.layout:
        view = await call.engine.overviews.laid_out(view)
    return Reply(lambda: graph_response(view), rows=len(view.memories) + len(view.edges))


@route("GET", "/v1/fading", query=FadingQuery, body=None, response=FadingResponse)
async def list_fading(call: Call[FadingQuery, NoBody]) -> Reply[FadingResponse]:
    """What will read otherwise some turns from now, what loses most first; it changes nothing."""
    query, soul = call.query, SoulId(call.query.soul)
    horizon = Horizon(query.turns, query.forgetting)
    if query.memory is not None:
        memory = MemoryId(query.memory)
        page = await call.engine.overviews.fading_of(call.owner, soul, memory, horizon)
    else:
        page = await call.engine.overviews.fading(
            call.owner, soul, horizon, query.limit, query.cursor
        )
    return Reply(lambda: fading_response(page), rows=len(page.memories))


@route("GET", "/v1/overview", query=OverviewQuery, body=None, response=OverviewResponse)
async def read_overview(call: Call[OverviewQuery, NoBody]) -> Reply[OverviewResponse]:
    """How much a soul remembers, and what it felt last."""
    seen = await call.engine.overviews.overview(call.owner, SoulId(call.query.soul))
    return Reply(lambda: overview_response(seen))


@route("GET", "/v1/feelings", query=FeelingsQuery, body=None, response=FeelingsResponse)
async def read_feelings(call: Call[FeelingsQuery, NoBody]) -> Reply[FeelingsResponse]:
    """What a soul felt from the first of its scenes to the last."""
    query = call.query
    about = MemoryId(query.about) if query.about else None
    felt = await call.engine.overviews.feelings(
        call.owner, SoulId(query.soul), about, query.stretches
    )
    return Reply(lambda: feelings_response(felt), rows=len(felt))


@route("GET", "/v1/density", query=DensityQuery, body=None, response=DensityResponse)
async def read_density(call: Call[DensityQuery, NoBody]) -> Reply[DensityResponse]:
    """How many of a soul's memories lie in each part of its time."""
    query, wanted = call.query, density_filter(call.query)
    period = None if query.by is None else Period(query.by)
    density = await call.engine.overviews.density(call.owner, wanted, query.bins, period)
    rows = len(density.counts) + len(density.periods)
    return Reply(lambda: density_response(density), rows=rows)


@route("GET", "/v1/habits", query=HabitsQuery, body=None, response=HabitsResponse)
async def list_habits(call: Call[HabitsQuery, NoBody]) -> Reply[HabitsResponse]:
    """What a soul does when something happens: triggers with situations and actions, page by page."""
    query = call.query
    page = await call.engine.overviews.habits(
        call.owner, SoulId(query.soul), query.limit, query.cursor
    )
    rows = sum(len(h.situations) + len(h.actions) for h in page.habits)
    return Reply(lambda: habits_response(page), rows=rows)


@route("GET", "/v1/timeline", query=TimelineQuery, body=None, response=TimelineResponse)
async def read_timeline(call: Call[TimelineQuery, NoBody]) -> Reply[TimelineResponse]:
    """Memories that overlap a span of time, in order, page by page."""
    query = call.query
    start, end = within_calendar(query.start), within_calendar(query.end)
    if start and end and end <= start:
        raise Unprocessable(
            f"the span ends at {end.isoformat()}, not after {start.isoformat()}: swap them",
            field="to",
        )
    page = await call.engine.memories.timeline(
        call.owner, SoulId(query.soul), start, end, query.limit, query.cursor
    )
    return Reply(lambda: timeline_response(page), rows=len(page.memories))


ROUTES = (
    list_fading,
    read_density,
    read_feelings,
    read_graph,
    read_overview,
    list_habits,
    read_timeline,
)
