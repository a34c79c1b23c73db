"""Values read from a card or a world: statements to be remembered, and names."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.dialogue import Version
from soulmem.domain.ids import ChatId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import KnownName
from soulmem.language.habit_sentences import StatedHabit

CARD = "card"  # source of statements of the card
_WORLD, _STORE = "world: ", "store: "


def world_source(title: str) -> str:
    """The source of statements of a world of that title."""
    return f"{_WORLD}{title}"


def store_source(title: str) -> str:
    """The source of memories of another extension's store of that title."""
    return f"{_STORE}{title}"


def is_source(tag: str) -> bool:
    """Whether a tag of a memory is a source."""
    return tag == CARD or tag.startswith((_WORLD, _STORE))


@dataclass(frozen=True, slots=True)
class EvidenceRef:
    """The messages that a statement was written about, as its file names them: one version, or a range."""

    title: str  # of the chat
    chat: ChatId | None = None  # where the file records it; else the chat has the title
    version: Version | None = None
    first: int = 0  # of a range: place of the first message in the chat, from 0
    last: int = 0  # place of the last message, at least `first`


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement to be remembered by itself: a note, or a habit as an action."""

    text: str
    part: str  # part of the file: description, personality, book, ..
    kind: MemoryKind = MemoryKind.NOTE
    importance: float | None = None  # 0..1; None: estimated from its text
    evidence: EvidenceRef | None = None  # None: the file names no messages


@dataclass(frozen=True, slots=True)
class BrokenPart:
    """A part that could not be read: a field of a card, an entry of a world."""

    where: str
    reason: str  # no_text, not_an_object


@dataclass(frozen=True, slots=True)
class Lore:
    """The content of one file."""

    title: str  # of the card: the character's name
    statements: tuple[Statement, ...] = ()
    names: tuple[KnownName, ...] = ()
    broken: tuple[BrokenPart, ...] = ()
    disabled: int = 0  # entries that are switched off and left out
    habits: tuple[StatedHabit, ...] = ()  # proposals; an import makes none of them
    # entries that hold orders to a model, code or forms, which were left out, in whole or in part
    instructions: int = 0


@dataclass(frozen=True, slots=True)
class Cast:
    """What the macros {{char}} and {{user}} stand for."""

    character: str
    user: str
