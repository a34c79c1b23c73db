"""A chat: messages in order, each a slot with one version of text, and the fork of a branch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.story_text import LeftOut


class Role(str, Enum):
    """Who speaks."""

    USER = "user"
    CHARACTER = "character"
    NARRATOR = "narrator"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Message:
    """One version of one slot, as the chat shows it now."""

    slot: SlotId
    hash: str  # first 16 hex digits of SHA-256 of the text
    role: Role
    speaker: str
    text: str
    sent_at: datetime | None = None  # aware
    story_at: datetime | None = None  # aware; the story's own calendar
    hidden: bool = False
    swipe: int = 0
    present: tuple[SoulId, ...] | None = None  # None: all souls of the chat
    # What the client's prompt shows of it, where that differs from the text
    story: str | None = None
    left_out: tuple[LeftOut, ...] = ()  # of a message with its story as text

    @property
    def version(self) -> Version:
        return Version(self.slot, self.hash)


@dataclass(frozen=True, slots=True)
class Version:
    """A text in a slot: the unit of evidence."""

    slot: SlotId
    hash: str


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message as a client lists it; `text` is None if the client expects it to be stored."""

    slot: SlotId
    hash: str
    role: Role
    speaker: str = ""
    sent_at: datetime | None = None
    story_at: datetime | None = None
    hidden: bool = False
    swipe: int = 0
    present: tuple[SoulId, ...] | None = None
    text: str | None = None
    story: str | None = None  # see `Message`


@dataclass(frozen=True, slots=True)
class Base:
    """The client's claim that the first `count` messages are unchanged, proved by `digest`."""

    count: int
    digest: str


@dataclass(frozen=True, slots=True)
class Fork:
    """Fork of a branch: parent chat, and the last slot both share."""

    chat: ChatId
    slot: SlotId


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Slots of a sudden loss: hidden from recall until the user decides, and not removed."""

    vanished: frozenset[SlotId]


class ChatState(str, Enum):
    """Whether a chat is in use or in the bin."""

    ACTIVE = "active"
    BIN = "bin"


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat without its messages."""

    id: ChatId
    souls: tuple[SoulId, ...]
    # The souls, and other people present at one of the messages
    cast: tuple[SoulId, ...] = ()
    title: str = ""
    persona: str = ""
    parent: Fork | None = None
    # the last message, when it counts as settled though nothing follows it
    settled_tail: Version | None = None
    tail_since: datetime | None = None  # aware; when the last message took its present text
    quarantine: Quarantine | None = None
    state: ChatState = ChatState.ACTIVE
    created: datetime | None = None  # aware


def text_hash(text: str) -> str:
    """First 16 hex digits of SHA-256 of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest(messages: Iterable[Message]) -> str:
    """SHA-256 hex of the lines `slot:hash:hidden(0|1)` of the messages, in order."""
    return hashlib.sha256(digest_lines(messages).encode()).hexdigest()


def digest_lines(messages: Iterable[Message]) -> str:
    """What `digest` is of."""
    return "".join(f"{m.slot}:{m.hash}:{'1' if m.hidden else '0'}\n" for m in messages)
