"""Routes of the views: fading, feelings, graph, habits, overview and timeline."""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.calendar import within_calendar
from soulmem.domain.digests import Period
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.engine.api.results import Page
from soulmem.engine.views.fading_ahead import Horizon
from soulmem.server.json_response import Reply
from soulmem.server.responses.fading import FadingResponse, fading_response
from soulmem.server.responses.feelings import FeelingsResponse, feelings_response
from soulmem.server.responses.habits import HabitsResponse, habits_response
from soulmem.server.responses.memories import (
    GraphResponse,
    TimelineResponse,
    graph_response,
    timeline_response,
)
from soulmem.server.responses.overview import (
    DensityResponse,
    OverviewResponse,
    density_response,
    overview_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody
from soulmem.server.schemas.memories import DensityQuery, density_filter
from soulmem.server.schemas.views import (
    FadingQuery,
    FeelingsQuery,
    GraphQuery,
    HabitsQuery,
    OverviewQuery,
    TimelineQuery,
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
    return Reply(
        lambda: graph_response(view), rows=len(view.memories) + len(view.edges)
    )


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
    density = await call.engine.overviews.density(
        call.owner, wanted, query.bins, period
    )
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
