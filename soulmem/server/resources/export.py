"""Route of the export: a soul as one file."""

from __future__ import annotations

from datetime import datetime

from soulmem.domain.ids import SoulId
from soulmem.server.common_types import Id, NoBody, Query, ResponseBody
from soulmem.server.replies import Stream
from soulmem.server.routes import Call, route


class ExportQuery(Query, frozen=True):
    """Selects the soul to export."""

    soul: Id


LINES = "application/x-ndjson"


class BundleResponse(ResponseBody, frozen=True):
    """The first line of a bundle. Each further line names its `type`: soul, chat, message, memory, edge,
    usage or recall. The last one is `end`, with the number of `lines` before it.
    """

    type: str
    version: int
    soul: str
    made: datetime
    soulmem: str


@route(
    "GET",
    "/v1/export",
    query=ExportQuery,
    body=None,
    response=BundleResponse,
    media=LINES,
)
async def export_soul(call: Call[ExportQuery, NoBody]) -> Stream:
    """A soul with its chats and memories as JSON lines. An import restores all of it."""
    soul = SoulId(call.query.soul)
    pieces = await call.engine.exports.bundle(call.owner, soul)
    return Stream(pieces, LINES, f"soulmem-{soul}.jsonl")


ROUTES = (export_soul,)
