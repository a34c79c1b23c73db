"""Route of the export: a soul as one file."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.responses.export import LINES, BundleResponse
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody
from soulmem.server.schemas.export import ExportQuery
from soulmem.server.streams import Stream


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
