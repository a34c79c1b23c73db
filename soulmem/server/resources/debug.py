"""Routes of the test mode: move the clocks, run the idle work now, draw by the roulette."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.domain.ids import SoulId
from soulmem.engine.recall.pushes import Draws
from soulmem.server.common_types import Body, Done, Id, NoBody, NoQuery, ResponseBody
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


class DrawsBody(Body, frozen=True):
    """Draws of the roulette: the soul, their number, and the seed of the generator."""

    soul: Id
    count: Annotated[int, Meta(ge=1, le=1_000_000)]
    seed: Annotated[int, Meta(ge=0, le=1 << 62)] = 0


class ClockBody(Body, frozen=True):
    """How far to move the clocks."""

    advance_seconds: Annotated[float, Meta(ge=0.0, le=10_000_000_000.0)] = 0.0
    advance_turns: Annotated[int, Meta(ge=0, le=10_000_000)] = 0


class DrawsResponse(ResponseBody, frozen=True):
    """How often each memory came, by id, and the weight of each that may come."""

    counts: dict[str, int]
    weights: dict[str, float]


def draws_response(draws: Draws) -> DrawsResponse:
    """The draws."""
    return DrawsResponse(
        counts={str(key): count for key, count in draws.counts.items()},
        weights={str(key): weight for key, weight in draws.weights.items()},
    )


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
    draws = await call.engine.roulette.draws(call.owner, SoulId(body.soul), body.count, body.seed)
    return Reply(lambda: draws_response(draws), rows=len(draws.weights))


ROUTES = (advance_clock, run_idle, draw_memories)
