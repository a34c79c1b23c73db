"""The door to a soul as one file."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.answers.export import LINES, BundleAnswer
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody
from soulmem.server.schemas.export import ExportQuery
from soulmem.server.streams import Stream


@door(
    "GET", "/v1/export", query=ExportQuery, body=None, answer=BundleAnswer, media=LINES
)
async def export_soul(call: Call[ExportQuery, NoBody]) -> Stream:
    """A soul with its chats and memories as one bundle of JSON lines, which an import takes back whole."""
    soul = SoulId(call.query.soul)
    pieces = await call.engine.exports.bundle(call.owner, soul)
    return Stream(pieces, LINES, f"soulmem-{soul}.jsonl")


DOORS = (export_soul,)
