"""Routes of the test mode: move the clocks, run the idle work now, draw by the roulette."""

from __future__ import annotations

from soulmem.domain.ids import SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.common import Done
from soulmem.server.responses.draws import DrawsResponse, draws_response
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.schemas.views import ClockBody, DrawsBody


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


@route("POST", "/v1/test/draws", query=NoQuery, body=DrawsBody, response=DrawsResponse)
async def draw_memories(call: Call[NoQuery, DrawsBody]) -> Reply[DrawsResponse]:
    """Draw by the roulette over the soul's present weights; nothing is told or learned."""
    body = call.body
    draws = await call.engine.roulette.draws(
        call.owner, SoulId(body.soul), body.count, body.seed
    )
    return Reply(lambda: draws_response(draws), rows=len(draws.weights))


ROUTES = (advance_clock, run_idle, draw_memories)
