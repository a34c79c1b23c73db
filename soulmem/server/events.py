"""The door to what has just happened, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from soulmem.domain.ids import Owner
from soulmem.engine.engine import Engine
from soulmem.engine.runtime.events import Event
from soulmem.server.answers.events import EVENTS, EventsAnswer
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import NoBody, NoQuery
from soulmem.server.streams import Stream

_ALIVE = 15.0  # seconds of silence after which a comment shows that the line is up


# Whoever listens uses nothing: else nobody who has a page open would ever let the engine rest.
@door(
    "GET",
    "/v1/events",
    query=NoQuery,
    body=None,
    answer=EventsAnswer,
    is_use=False,
    media=EVENTS,
)
async def listen(call: Call[NoQuery, NoBody]) -> Stream:
    """What happens from now on: `phase`, `job`, `memory`, `deletion`, `llm`; after `missed` read all anew."""
    call.engine.events.check_room()
    return Stream(_told(call.engine, call.owner), EVENTS)


async def _told(engine: Engine, owner: Owner) -> AsyncGenerator[bytes, None]:
    with engine.events.listen(owner) as listener:
        yield _line(Event("phase", {"phase": engine.health().phase}))
        while True:
            try:
                event = await asyncio.wait_for(listener.get(), _ALIVE)
            except asyncio.TimeoutError:
                yield b": alive\n\n"
                continue
            if event is None:
                return
            yield _line(event)


def _line(event: Event) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (
        event.kind.encode(),
        msgspec.json.encode(event.data),
    )


DOORS = (listen,)
