"""Data of the server-sent events."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from soulmem.server.responses.common import ResponseBody

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
