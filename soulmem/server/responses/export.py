"""First line of an exported file."""

from __future__ import annotations

from datetime import datetime

from soulmem.server.responses.common import ResponseBody

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
