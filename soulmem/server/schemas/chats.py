"""Requests of chats: sync, lists, the client's activity."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.domain.calendar import within_calendar
from soulmem.domain.dialogue import Fork, Role
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.engine.api.requests import Activity, Base, SentMessage, SyncRequest
from soulmem.server.schemas.common import (
    DIGEST_PATTERN,
    HASH_PATTERN,
    Body,
    Count,
    Id,
    Query,
    Time,
    Words,
    without_repeats,
)


class ForkBody(Body, frozen=True):
    """Where this chat branched off: the last message that it shares with its parent."""

    chat: Id
    fork_slot: Id


class BaseBody(Body, frozen=True):
    """The first `count` messages are unchanged since the last sync; `digest` proves it."""

    count: Count
    digest: Annotated[str, Meta(pattern=DIGEST_PATTERN)]


class MessageBody(Body, frozen=True):
    """A message as the chat shows it. `text` may be left out if the sidecar has it already.

    `story` is what the client's prompt shows of it, where that differs from the text: what the
    player's own rules leave of it. It is no part of hash and digest.
    """

    slot: Id
    hash: Annotated[
        str,
        Meta(
            pattern=HASH_PATTERN,
            description="first 16 hex digits of SHA-256 of the text",
        ),
    ]
    role: Role
    speaker: Words = ""
    sent_at: Time | None = None
    story_at: Time | None = None
    hidden: bool = False
    swipe: Count = 0
    present: Annotated[list[Id], Meta(max_length=1_000)] | None = None
    text: str | None = None
    story: str | None = None


class SyncBody(Body, frozen=True):
    """A chat as its client shows it at present."""

    souls: Annotated[list[Id], Meta(min_length=1, max_length=1_000)]
    messages: list[MessageBody]
    title: Words = ""
    persona: Words = ""
    parent: ForkBody | None = None
    base: BaseBody | None = None
    confirm_removal: bool = False


class ChatsQuery(Query, frozen=True):
    """Selects the chats to list."""

    soul: Id | None = None


class ActivityBody(Body, frozen=True):
    """What the client of a chat is doing."""

    chat: Id
    state: Activity


def sync_request(chat: ChatId, body: SyncBody) -> SyncRequest:
    """The engine's request. Raises Unprocessable if a slot is sent twice or a time cannot be UTC."""
    seen: dict[str, int] = {}
    for i, message in enumerate(body.messages):
        first = seen.setdefault(message.slot, i)
        if first != i:
            raise Unprocessable(
                f"slot {message.slot!r} is used by messages[{first}]: give each message its own slot",
                field=f"messages[{i}].slot",
            )
    return SyncRequest(
        chat=chat,
        souls=without_repeats(map(SoulId, body.souls)),
        messages=[_sent(message, i) for i, message in enumerate(body.messages)],
        title=body.title,
        persona=body.persona,
        parent=Fork(ChatId(body.parent.chat), SlotId(body.parent.fork_slot))
        if body.parent
        else None,
        base=Base(body.base.count, body.base.digest) if body.base else None,
        confirm_removal=body.confirm_removal,
    )


def _sent(message: MessageBody, index: int) -> SentMessage:
    return SentMessage(
        slot=SlotId(message.slot),
        hash=message.hash,
        role=message.role,
        speaker=message.speaker,
        sent_at=within_calendar(message.sent_at),
        story_at=within_calendar(message.story_at),
        hidden=message.hidden,
        swipe=message.swipe,
        present=None
        if message.present is None
        else without_repeats(map(SoulId, message.present)),
        text=message.text,
        story=message.story,
    )
