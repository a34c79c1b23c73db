"""Whose memory it is: a character, the names it knows, and its settings from the card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import SoulId


class Scope(str, Enum):
    """Whether a new chat knows of the other chats."""

    CHARACTER = "character"
    CHAT = "chat"


class SoulClock(str, Enum):
    """What time means to forgetting."""

    TURNS = "turns"
    STORY = "story"
    WALL = "wall"


class SoulState(str, Enum):
    """Whether a soul is in use or in the bin."""

    ACTIVE = "active"
    BIN = "bin"


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name the soul knows, and what else it is called."""

    name: str
    aliases: tuple[str, ...] = ()
    source: str = ""  # the import that brought it; empty: the client gave it


@dataclass(frozen=True, slots=True)
class SoulSettings:
    """Per-card settings; None means the sidecar's own default."""

    scope: Scope = Scope.CHARACTER
    clock: SoulClock = SoulClock.TURNS
    forgetting: float = 1.0  # 0 elephant .. 2 goldfish
    budget_tokens: int | None = None
    max_items: int | None = None  # 1..50
    remember_hidden: bool = True
    weights: dict[str, float] = field(default_factory=dict)  # factor name to 0..1

    def __post_init__(self) -> None:
        if not 0.0 <= self.forgetting <= 2.0:
            raise Unprocessable(
                f"forgetting {self.forgetting} is outside 0 (elephant) .. 2 (goldfish)",
                field="config.forgetting",
            )


@dataclass(frozen=True, slots=True)
class Soul:
    """One character's memory."""

    id: SoulId
    name: str
    names: tuple[KnownName, ...] = ()
    settings: SoulSettings = field(default_factory=SoulSettings)
    state: SoulState = SoulState.ACTIVE
    created: datetime | None = None  # aware

    def known_names(self) -> tuple[str, ...]:
        """Every name and alias, the soul's own first, without repeats."""
        spoken = [self.name, *(n for known in self.names for n in (known.name, *known.aliases))]
        return tuple(dict.fromkeys(n.strip() for n in spoken if n.strip()))

    def names_given(self, given: Iterable[KnownName]) -> tuple[KnownName, ...]:
        """The names that a client gives, beside those that imports brought and it may have read here."""
        brought = [known for known in self.names if known.source]
        known = {(one.name.casefold(), frozenset(one.aliases)) for one in brought}
        return (
            *(one for one in given if (one.name.casefold(), frozenset(one.aliases)) not in known),
            *brought,
        )
