"""Kept answers of a language model: messages read, drafts made, and memories written."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from soulmem.domain.drafts import Drafts
from soulmem.domain.ids import ChatId, MemoryId, SoulId

WAITING = 0.3  # confidence below which a product waits for a word of the user; design 2


class Work(str, Enum):
    """Task of the language model."""

    SUMMARY = "summary"  # of a chat up to a mark
    DRAFTS = "drafts"  # everything else
    HABIT = "habit"  # nothing more: what several answers drafted together
    KIND = "kind"  # what some scenes have in common
    DIGEST = "digest"  # of a period; made without a model, too
    NAMES = "names"  # two names of one thing; made without a model
    IMPORT = "import"  # what another extension wrote about the messages


@dataclass(frozen=True, slots=True)
class Product:
    """A memory or edge written from an answer, with the episodes cited as its evidence."""

    id: str
    # Some of those that were read; none where all were
    cited: tuple[MemoryId, ...] = ()
    is_edge: bool = False
    confidence: float = 1.0  # 0..1, how far the lines cited carry it


@dataclass(frozen=True, slots=True)
class Derivation:
    """One kept answer of a language model, or something made without one that goes with its messages, too.

    Valid while a chat holds all of `read` (episodes in message order, at least one) and all
    that the derivation `after`, which it continues, had read. Otherwise its products go. A
    digest may read several families of chats: of each a chat must hold all that is of it.
    """

    id: str
    soul: SoulId
    work: Work
    chat: ChatId  # it was made for; others that hold the same messages have it too
    read: tuple[MemoryId, ...]
    made: datetime  # aware
    after: str | None = None
    products: tuple[Product, ...] = ()
    drafts: Drafts = field(default_factory=Drafts)
    model: str = ""
    source: str = ""  # the job that asked for it: what it is undone by
