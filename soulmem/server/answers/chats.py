"""How chats are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from soulmem.domain.dialogue import Chat, Message
from soulmem.engine.api.requests import SyncAnswer
from soulmem.server.answers.common import Answer


class ForkAnswer(Answer, frozen=True):
    """Where the chat left its parent."""

    chat: str
    fork_slot: str


class HeldAnswer(Answer, frozen=True):
    """A sudden loss that waits for `confirm_removal`."""

    count: int
    reason: str = "mass_removal"


class SyncedAnswer(Answer, frozen=True):
    """What the sync did; with `needs_text` nothing was applied."""

    needs_text: list[str]
    applied: bool
    added: int
    changed: int
    removed: int
    held: HeldAnswer | None


class ChatHead(Answer, frozen=True):
    """A chat without its messages."""

    id: str
    title: str
    souls: list[str]
    persona: str
    parent: ForkAnswer | None
    count: int
    state: str
    held: HeldAnswer | None


class ChatsAnswer(Answer, frozen=True):
    """The caller's chats."""

    chats: list[ChatHead]
    cursor: None = None


class MessageAnswer(Answer, frozen=True):
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


class ChatAnswer(ChatHead, frozen=True):
    """A chat with its messages, in order."""

    messages: list[MessageAnswer]
    cursor: None = None


def synced_answer(done: SyncAnswer) -> SyncedAnswer:
    """What the engine did with a sync."""
    return SyncedAnswer(
        needs_text=list(done.needs_text),
        applied=done.applied,
        added=done.added,
        changed=done.changed,
        removed=done.removed,
        held=None if done.held is None else HeldAnswer(count=done.held),
    )


def chats_answer(chats: Iterable[tuple[Chat, int]]) -> ChatsAnswer:
    """The heads, in the order given."""
    return ChatsAnswer(chats=[_head(chat, count) for chat, count in chats])


def chat_answer(chat: Chat, messages: Sequence[Message]) -> ChatAnswer:
    """One chat whole."""
    head = _head(chat, len(messages))
    return ChatAnswer(
        **{name: getattr(head, name) for name in ChatHead.__struct_fields__},
        messages=[_message(m) for m in messages],
    )


def _head(chat: Chat, count: int) -> ChatHead:
    return ChatHead(
        id=chat.id,
        title=chat.title,
        souls=list(chat.souls),
        persona=chat.persona,
        parent=ForkAnswer(chat=chat.parent.chat, fork_slot=chat.parent.slot)
        if chat.parent
        else None,
        count=count,
        state=chat.state.value,
        held=HeldAnswer(count=len(chat.hold.vanished)) if chat.hold else None,
    )


def _message(m: Message) -> MessageAnswer:
    return MessageAnswer(
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
