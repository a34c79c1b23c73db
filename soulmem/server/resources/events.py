"""Route of the event stream: what happens in the engine, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from soulmem.domain.ids import Owner
from soulmem.engine.engine import Engine
from soulmem.engine.runtime.events import Event
from soulmem.server.common_types import NoBody, NoQuery, ResponseBody
from soulmem.server.replies import LOOK, Stream
from soulmem.server.routes import Call, route

EVENTS = "text/event-stream"


class EventsResponse(ResponseBody, frozen=True):
    """The `data` of an event. Of `phase`: phase; of `job`: job, soul, job_kind, state; of `memory`: soul,
    memories, actor; of `deletion`: request, soul, memory, state; of `llm`: request, state ("waiting" for a
    client's connection, or "over"). Details are read from the other routes.
    """

    phase: Literal["working", "idle"] | UnsetType = UNSET
    soul: str | UnsetType = UNSET
    job: str | UnsetType = UNSET
    job_kind: str | UnsetType = UNSET
    state: str | UnsetType = UNSET
    memories: list[str] | UnsetType = UNSET
    memory: str | UnsetType = UNSET
    actor: str | UnsetType = UNSET
    request: str | UnsetType = UNSET


# of silence, after which a comment shows that the connection is alive
_ALIVE_SECONDS = 15.0
_LOOK_SECONDS = 1.0  # between two looks whether the listener is still there


# Listening does not count as use: an open page would keep the engine from idle work.
@route(
    "GET",
    "/v1/events",
    query=NoQuery,
    body=None,
    response=EventsResponse,
    is_use=False,
    media=EVENTS,
)
async def listen(call: Call[NoQuery, NoBody]) -> Stream:
    """Events from now on: `phase`, `job`, `memory`, `deletion`, `llm`; after `missed`, read everything again."""
    call.engine.events.check_room()
    return Stream(_event_lines(call.engine, call.owner), EVENTS)


async def _event_lines(engine: Engine, owner: Owner) -> AsyncGenerator[bytes, None]:
    with engine.events.listen(owner) as listener:
        yield _line(Event("phase", {"phase": engine.health().phase}))
        silent = 0.0  # seconds
        while True:
            try:
                event = await asyncio.wait_for(listener.get(), _LOOK_SECONDS)
            except asyncio.TimeoutError:
                silent = (silent + _LOOK_SECONDS) % _ALIVE_SECONDS
                yield LOOK if silent else b": alive\n\n"
                continue
            silent = 0.0
            if event is None:
                return
            yield _line(event)


def _line(event: Event) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (
        event.kind.encode(),
        msgspec.json.encode(event.data),
    )


ROUTES = (listen,)
