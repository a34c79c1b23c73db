"""Kept answers of a language model: messages read, drafts made, and memories written."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from soulmem.domain.drafts import Drafts
from soulmem.domain.ids import ChatId, MemoryId, SoulId


class Work(str, Enum):
    """Task of the language model."""

    SUMMARY = "summary"  # of a chat up to a mark
    DRAFTS = "drafts"  # everything else
    HABIT = "habit"  # nothing more: what several answers drafted together
    KIND = "kind"  # what some scenes have in common


@dataclass(frozen=True, slots=True)
class Product:
    """A memory or edge written from an answer, with the episodes cited as its evidence."""

    id: str
    # Some of those that were read; none where all were
    cited: tuple[MemoryId, ...] = ()
    is_edge: bool = False


@dataclass(frozen=True, slots=True)
class Derivation:
    """One kept answer of a language model.

    Valid while a chat holds all of `read` (episodes in message order, at least one) and all
    that the derivation `after`, which it continues, had read. Otherwise its products go.
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
