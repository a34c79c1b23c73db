"""Routes of the views: graph and timeline."""

from __future__ import annotations

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.memories import (
    GraphResponse,
    TimelineResponse,
    graph_response,
    timeline_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, utc
from soulmem.server.schemas.views import GraphQuery, TimelineQuery


@route("GET", "/v1/graph", query=GraphQuery, body=None, response=GraphResponse)
async def read_graph(call: Call[GraphQuery, NoBody]) -> Reply[GraphResponse]:
    """A soul's graph, or the part around one memory."""
    query = call.query
    center = MemoryId(query.center) if query.center else None
    view = await call.engine.memories.graph(
        call.owner, SoulId(query.soul), center, query.hops, query.limit
    )
    return Reply(
        lambda: graph_response(view), rows=len(view.memories) + len(view.edges)
    )


@route("GET", "/v1/timeline", query=TimelineQuery, body=None, response=TimelineResponse)
async def read_timeline(call: Call[TimelineQuery, NoBody]) -> Reply[TimelineResponse]:
    """Memories that overlap a span of time, in order, page by page."""
    query = call.query
    start, end = utc(query.start, "from"), utc(query.end, "to")
    if start and end and end <= start:
        raise Unprocessable(
            f"the span ends at {end.isoformat()}, not after {start.isoformat()}: swap them",
            field="to",
        )
    page = await call.engine.memories.timeline(
        call.owner, SoulId(query.soul), start, end, query.limit, query.cursor
    )
    return Reply(lambda: timeline_response(page), rows=len(page.memories))


ROUTES = (read_graph, read_timeline)
