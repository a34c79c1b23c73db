"""Responses of chats: the result of a sync, lists, messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import field

from soulmem.domain.dialogue import Chat, Message
from soulmem.engine.api.requests import SyncAnswer
from soulmem.server.responses.common import ResponseBody


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
