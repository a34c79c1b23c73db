"""What a language model made of some messages: what it read, what it drafted, and what came of that."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from soulmem.domain.drafts import Drafts
from soulmem.domain.ids import ChatId, MemoryId, SoulId


class Work(str, Enum):
    """What the model was asked for."""

    SUMMARY = "summary"  # of a chat up to a mark
    DRAFTS = "drafts"  # everything else
    HABIT = "habit"  # nothing more: what several answers drafted together
    KIND = "kind"  # what some scenes have in common


@dataclass(frozen=True, slots=True)
class Product:
    """A memory or an edge that came of it, with the episodes the model named as its evidence."""

    id: str
    cited: tuple[
        MemoryId, ...
    ] = ()  # some of those that were read; none where all were
    is_edge: bool = False


@dataclass(frozen=True, slots=True)
class Derivation:
    """One answer of a model that was kept.

    It stands as long as a chat holds everything that was read: all of `read`, the episodes of messages in
    their order, at least one, and what the derivation that it goes on from, `after`, had read. Once a part of
    that is gone its words go.
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
