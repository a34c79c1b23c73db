"""Routes of chats: sync, read, list, delete, and the client's activity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta, field

from soulmem.domain.calendar import within_calendar
from soulmem.domain.dialogue import Chat, Fork, Message, Role
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.engine.api.requests import (
    Activity,
    Base,
    SentMessage,
    SyncAnswer,
    SyncRequest,
)
from soulmem.server.common_types import (
    DIGEST_PATTERN,
    HASH_PATTERN,
    Body,
    Count,
    Done,
    Id,
    NoBody,
    NoQuery,
    Query,
    ResponseBody,
    Time,
    Words,
    without_repeats,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route


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
        present=None if message.present is None else without_repeats(map(SoulId, message.present)),
        text=message.text,
        story=message.story,
    )


class ForkResponse(ResponseBody, frozen=True):
    """The last message that a branch shares with its parent chat."""

    chat: str
    fork_slot: str


class QuarantineResponse(ResponseBody, frozen=True):
    """Many messages vanished at once; their removal waits for `confirm_removal`."""

    count: int
    reason: str = "mass_removal"


class SyncResponse(ResponseBody, frozen=True):
    """What the sync did. If `needs_text` is not empty, nothing was applied."""

    needs_text: list[str]
    applied: bool
    added: int
    changed: int
    removed: int
    quarantined: QuarantineResponse | None = field(name="held")


class ChatHead(ResponseBody, frozen=True):
    """A chat without its messages."""

    id: str
    title: str
    souls: list[str]
    persona: str
    parent: ForkResponse | None
    count: int
    state: str
    quarantined: QuarantineResponse | None = field(name="held")


class ChatsResponse(ResponseBody, frozen=True):
    """The caller's chats."""

    chats: list[ChatHead]
    cursor: None = None


class MessageResponse(ResponseBody, frozen=True):
    """A message as stored."""

    slot: str
    hash: str
    role: str
    speaker: str
    sent_at: datetime | None
    story_at: datetime | None
    hidden: bool
    swipe: int
    present: list[str] | None
    text: str


class ChatResponse(ChatHead, frozen=True):
    """A chat with its messages, in order."""

    messages: list[MessageResponse]
    cursor: None = None


def sync_response(done: SyncAnswer) -> SyncResponse:
    """The result of a sync."""
    return SyncResponse(
        needs_text=list(done.needs_text),
        applied=done.applied,
        added=done.added,
        changed=done.changed,
        removed=done.removed,
        quarantined=None if done.held is None else QuarantineResponse(count=done.held),
    )


def chats_response(chats: Iterable[tuple[Chat, int]]) -> ChatsResponse:
    """The chats without messages, in the given order."""
    return ChatsResponse(chats=[_head(chat, count) for chat, count in chats])


def chat_response(chat: Chat, messages: Sequence[Message]) -> ChatResponse:
    """One chat with its messages."""
    head = _head(chat, len(messages))
    return ChatResponse(
        **{name: getattr(head, name) for name in ChatHead.__struct_fields__},
        messages=[_message(m) for m in messages],
    )


def _head(chat: Chat, count: int) -> ChatHead:
    return ChatHead(
        id=chat.id,
        title=chat.title,
        souls=list(chat.souls),
        persona=chat.persona,
        parent=ForkResponse(chat=chat.parent.chat, fork_slot=chat.parent.slot)
        if chat.parent
        else None,
        count=count,
        state=chat.state.value,
        quarantined=QuarantineResponse(count=len(chat.quarantine.vanished))
        if chat.quarantine
        else None,
    )


def _message(m: Message) -> MessageResponse:
    return MessageResponse(
        slot=m.slot,
        hash=m.hash,
        role=m.role.value,
        speaker=m.speaker,
        sent_at=m.sent_at,
        story_at=m.story_at,
        hidden=m.hidden,
        swipe=m.swipe,
        present=None if m.present is None else list(m.present),
        text=m.text,
    )


@route("PUT", "/v1/chats/{chat}", query=NoQuery, body=SyncBody, response=SyncResponse)
async def sync_chat(call: Call[NoQuery, SyncBody]) -> Reply[SyncResponse]:
    """Make the stored chat equal to the client's. Sending the same body again changes nothing."""
    request = await call.convert(lambda: sync_request(ChatId(call.ids["chat"]), call.body))
    done = await call.engine.chats.sync(call.owner, request)
    return Reply(lambda: sync_response(done), rows=len(done.needs_text))


@route("GET", "/v1/chats/{chat}", query=NoQuery, body=None, response=ChatResponse)
async def get_chat(call: Call[NoQuery, NoBody]) -> Reply[ChatResponse]:
    """A stored chat with its messages, in order."""
    chat, messages = await call.engine.chats.get(call.owner, ChatId(call.ids["chat"]))
    return Reply(lambda: chat_response(chat, messages), rows=len(messages))


@route("GET", "/v1/chats", query=ChatsQuery, body=None, response=ChatsResponse)
async def list_chats(call: Call[ChatsQuery, NoBody]) -> Reply[ChatsResponse]:
    """The caller's chats, or those of one soul."""
    soul = call.query.soul
    chats = await call.engine.chats.list(call.owner, SoulId(soul) if soul else None)
    return Reply(lambda: chats_response(chats), rows=len(chats))


@route("DELETE", "/v1/chats/{chat}", query=NoQuery, body=None, response=Done)
async def delete_chat(call: Call[NoQuery, NoBody]) -> Reply[Done]:
    """Move a chat to the bin, with the memories that only this chat supports."""
    await call.engine.chats.delete(call.owner, ChatId(call.ids["chat"]))
    return Reply(Done)


@route("POST", "/v1/activity", query=NoQuery, body=ActivityBody, response=Done)
async def tell_activity(call: Call[NoQuery, ActivityBody]) -> Reply[Done]:
    """Report what the client of a chat is doing; `closed` makes its last message final."""
    await call.engine.chats.activity(call.owner, ChatId(call.body.chat), call.body.state)
    return Reply(Done)


ROUTES = (sync_chat, get_chat, list_chats, delete_chat, tell_activity)
