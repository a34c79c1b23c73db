"""The doors for tests only: move the clocks, do the Idle work now."""

from __future__ import annotations

from soulmem.server.answers.common import Done
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.views import ClockBody


@door("POST", "/v1/test/clock", query=NoQuery, body=ClockBody, answer=Done)
async def advance_clock(call: Call[NoQuery, ClockBody]) -> Reply[Done]:
    """Move the soul clock and the wall clock that the engine sees."""
    await call.engine.advance_clock(call.body.advance_seconds, call.body.advance_turns)
    return Reply(Done)


@door("POST", "/v1/test/idle", query=NoQuery, body=NoBody, answer=Done)
async def run_idle(call: Call[NoQuery, NoBody]) -> Reply[Done]:
    """Run the Idle work and answer when it is done."""
    await call.engine.idle.run()
    return Reply(Done)


DOORS = (advance_clock, run_idle)
