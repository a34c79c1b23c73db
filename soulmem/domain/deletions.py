"""What a tool asks to be deleted, until the user has said a word."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from soulmem.domain.audit import Actor
from soulmem.domain.ids import MemoryId, SoulId


class DeletionState(str, Enum):
    """Whether it still waits, and what became of it."""

    AWAITING = "awaiting_confirmation"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    EXPIRED = "expired"  # nobody answered: nothing happened


@dataclass(frozen=True, slots=True)
class Deletion:
    """A request to delete a memory. `quote` is its text when that was asked."""

    id: str
    soul: SoulId
    memory: MemoryId
    actor: Actor
    reason: str
    quote: str
    requested: datetime  # aware
    state: DeletionState = DeletionState.AWAITING
    decided: datetime | None = None
