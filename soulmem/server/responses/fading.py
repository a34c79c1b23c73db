"""Responses of what fades next."""

from __future__ import annotations

from soulmem.engine.views.fading_ahead import FadingMemory, FadingPage
from soulmem.server.responses.common import ResponseBody


class FadingMemoryResponse(ResponseBody, frozen=True):
    """A memory as it reads now, and then if nothing recalls it; `visibility` and `importance` 0..1.

    `reads_then`: as a prompt will tell it; `text_then`: with the mark `xxx(gist)` for each part that has blurred.
    `leaves`: by then it says too little to be kept, and is in the bin.
    """

    id: str
    kind: str
    importance: float
    text: str
    text_then: str
    reads_then: str
    visibility: float
    visibility_then: float
    leaves: bool


class FadingResponse(ResponseBody, frozen=True):
    """A page of what fades, what loses most first; `cursor` is null on the last page."""

    memories: list[FadingMemoryResponse]
    cursor: str | None


def fading_response(page: FadingPage) -> FadingResponse:
    """A page of what fades."""
    return FadingResponse(
        memories=[_memory(fading) for fading in page.memories], cursor=page.cursor
    )


def _memory(fading: FadingMemory) -> FadingMemoryResponse:
    return FadingMemoryResponse(
        id=fading.memory.id,
        kind=fading.memory.kind.value,
        importance=fading.memory.importance,
        text=fading.now.text,
        text_then=fading.marked_then,
        reads_then=fading.then.text,
        visibility=fading.now.visibility,
        visibility_then=fading.then.visibility,
        leaves=fading.leaves,
    )
