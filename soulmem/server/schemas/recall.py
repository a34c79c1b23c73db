"""Request of recall."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Literal

from msgspec import Meta, field

from soulmem.domain.calendar import within_calendar
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.situation import Emotion
from soulmem.engine.api.requests import (
    RecallMode,
    RecallRequest,
    RecallType,
    SyncRequest,
    TimeRange,
)
from soulmem.server.schemas.chats import SyncBody, sync_request
from soulmem.server.schemas.common import (
    Body,
    Count,
    Id,
    Share,
    Tags,
    Time,
    Words,
)
from soulmem.server.schemas.souls import Items, Tokens

_MAX_CHARACTERS = 200_000  # of one text, and of all context texts together
_MAX_TEXTS = 64
Question = Annotated[str, Meta(max_length=_MAX_CHARACTERS)]
ContextTexts = Annotated[
    list[Annotated[str, Meta(max_length=_MAX_CHARACTERS)]],
    Meta(
        max_length=_MAX_TEXTS,
        description="other texts of the prompt: card fields, greeting, active lore",
    ),
]

ReasonLanguage = Annotated[
    Literal["en", "zh"],
    Meta(description="of the reasons; that of the scene when it is left out"),
]


class TimeRangeBody(Body, frozen=True):
    """`from` inclusive, `to` exclusive; an end that is left out is open."""

    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)


class MoodBody(Body, frozen=True):
    """The feeling of the scene."""

    label: Words
    intensity: Share


class RecallBody(Body, frozen=True):
    """A recall request to a soul. If `query` is null, the last messages of the chat are used."""

    soul: Id
    chat: Id | None = None
    slot: Id | None = None
    swipe: Count | None = None
    query: Question | None = None
    intent: Question | None = None
    type: RecallType = RecallType.NORMAL
    budget_tokens: Tokens | None = None
    max_items: Items | None = None
    context_from: Id | None = None
    context_texts: ContextTexts = field(default_factory=list)
    time_budget_ms: Annotated[int, Meta(ge=1, le=600_000)] | None = None
    mode: RecallMode = RecallMode.AUTO
    time_range: TimeRangeBody | None = None
    mood: MoodBody | None = None
    tags: Tags = field(default_factory=list)
    reserve_window: bool = False
    language: ReasonLanguage | None = None


class ReplyBody(Body, frozen=True):
    """A sync of the chat in the path and the recall for its next reply; `recall.chat` may be left out."""

    sync: SyncBody
    recall: RecallBody


def time_range(start: TimeRangeBody | None) -> TimeRange | None:
    """The span in UTC, or None if both ends are open."""
    if start is None or (start.start is None and start.end is None):
        return None
    span = TimeRange(within_calendar(start.start), within_calendar(start.end))
    if span.start and span.end and span.end <= span.start:
        raise Unprocessable(
            f"the time range ends at {span.end.isoformat()}, not after {span.start.isoformat()}: swap them",
            field="time_range.to",
        )
    return span


def context_texts(texts: list[str]) -> tuple[str, ...]:
    """The texts. Raises Unprocessable if they are too long to be read within a recall."""
    characters = sum(map(len, texts))
    if characters > _MAX_CHARACTERS:
        raise Unprocessable(
            f"the context texts have {characters} characters together: send at most {_MAX_CHARACTERS}",
            field="context_texts",
        )
    return tuple(texts)


def recall_request(body: RecallBody) -> RecallRequest:
    """The engine's request."""
    return RecallRequest(
        soul=SoulId(body.soul),
        chat=ChatId(body.chat) if body.chat else None,
        slot=SlotId(body.slot) if body.slot else None,
        swipe=body.swipe,
        query=body.query,
        intent=body.intent,
        type=body.type,
        budget_tokens=body.budget_tokens,
        max_items=body.max_items,
        context_from=SlotId(body.context_from) if body.context_from else None,
        context_texts=context_texts(body.context_texts),
        time_budget_ms=body.time_budget_ms,
        mode=body.mode,
        time_range=time_range(body.time_range),
        mood=Emotion(body.mood.label, body.mood.intensity) if body.mood else None,
        tags=tuple(body.tags),
        reserve_window=body.reserve_window,
        language=body.language,
    )


def reply_request(chat: ChatId, body: ReplyBody) -> RecallRequest:
    """The engine's request. Raises Unprocessable if it is about another chat than the sync."""
    if body.recall.chat not in (None, chat):
        raise Unprocessable(
            f"the recall is about chat {body.recall.chat!r}, the sync about {chat!r}: name the same chat",
            field="recall.chat",
        )
    with _field("recall"):
        return replace(recall_request(body.recall), chat=chat)


def reply_sync(chat: ChatId, body: ReplyBody) -> SyncRequest:
    """The engine's request of the sync. Raises Unprocessable."""
    with _field("sync"):
        return sync_request(chat, body.sync)


@contextmanager
def _field(name: str) -> Iterator[None]:
    """Errors of a part of the body name their field from the top of the body."""
    try:
        yield
    except Unprocessable as error:
        error.field = f"{name}.{error.field}"
        raise
