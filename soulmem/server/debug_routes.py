"""Routes of the test mode: move the clocks, run the idle work now."""

from __future__ import annotations

from soulmem.server.json_response import Reply
from soulmem.server.responses.common import Done
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.views import ClockBody


@route("POST", "/v1/test/clock", query=NoQuery, body=ClockBody, response=Done)
async def advance_clock(call: Call[NoQuery, ClockBody]) -> Reply[Done]:
    """Move the soul clock and the wall clock that the engine sees."""
    await call.engine.advance_clock(call.body.advance_seconds, call.body.advance_turns)
    return Reply(Done)


@route("POST", "/v1/test/idle", query=NoQuery, body=NoBody, response=Done)
async def run_idle(call: Call[NoQuery, NoBody]) -> Reply[Done]:
    """Run the idle work; the response comes when it is done."""
    await call.engine.idle.run()
    return Reply(Done)


ROUTES = (advance_clock, run_idle)
