"""GET /v1/health: how the sidecar is."""

from __future__ import annotations

from soulmem.server.answers.health import HealthAnswer, health_answer
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody, NoQuery


# A watching client asks every few seconds: that is no use, or the sidecar would never be idle.
@door("GET", "/v1/health", query=NoQuery, body=None, answer=HealthAnswer, is_use=False)
async def read_health(call: Call[NoQuery, NoBody]) -> Reply[HealthAnswer]:
    """How the sidecar is, from its first second on."""
    return Reply(lambda: health_answer(call.engine.health(), call.engine.bin.days))


DOORS = (read_health,)
