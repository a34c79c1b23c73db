"""The doors to the views: graph and timeline."""

from __future__ import annotations

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.server.answers.memories import (
    GraphAnswer,
    TimelineAnswer,
    graph_answer,
    timeline_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody, utc
from soulmem.server.schemas.views import GraphQuery, TimelineQuery


@door("GET", "/v1/graph", query=GraphQuery, body=None, answer=GraphAnswer)
async def read_graph(call: Call[GraphQuery, NoBody]) -> Reply[GraphAnswer]:
    """A soul's graph, or what lies around one memory."""
    query = call.query
    center = MemoryId(query.center) if query.center else None
    view = await call.engine.memories.graph(
        call.owner, SoulId(query.soul), center, query.hops, query.limit
    )
    return Reply(lambda: graph_answer(view), rows=len(view.memories) + len(view.edges))


@door("GET", "/v1/timeline", query=TimelineQuery, body=None, answer=TimelineAnswer)
async def read_timeline(call: Call[TimelineQuery, NoBody]) -> Reply[TimelineAnswer]:
    """What overlaps a span of time, in order, page by page."""
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
    return Reply(lambda: timeline_answer(page), rows=len(page.memories))


DOORS = (read_graph, read_timeline)
