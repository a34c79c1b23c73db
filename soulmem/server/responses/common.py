"""Response types that all resources share: success, error, source messages."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, Struct, UnsetType

from soulmem.domain.memories import Place


class ResponseBody(Struct, frozen=True, kw_only=True):
    """A JSON object in a response."""


class Done(ResponseBody, frozen=True):
    """Success: the change is stored."""

    ok: bool = True


class Problem(ResponseBody, frozen=True):
    """An error: a stable code, a message with the value and the remedy, and the path of the value."""

    error: str
    message: str
    field: str | UnsetType = UNSET


class SourceResponse(ResponseBody, frozen=True):
    """A message that supports a memory."""

    chat: str
    slot: str


def sources_response(places: Iterable[Place]) -> list[SourceResponse]:
    """The source messages, in the given order: best first."""
    return [SourceResponse(chat=p.chat, slot=p.slot) for p in places]
