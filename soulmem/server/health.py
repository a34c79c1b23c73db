"""Route of the health report: GET /v1/health."""

from __future__ import annotations

from soulmem.server.json_response import Reply
from soulmem.server.responses.health import HealthResponse, health_response
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery


# Clients ask every few seconds. That does not count as use, or the sidecar would never be idle.
@route(
    "GET", "/v1/health", query=NoQuery, body=None, response=HealthResponse, is_use=False
)
async def read_health(call: Call[NoQuery, NoBody]) -> Reply[HealthResponse]:
    """State of the sidecar; available from its first second on."""
    return Reply(lambda: health_response(call.engine.health(), call.engine.bin.days))


ROUTES = (read_health,)
