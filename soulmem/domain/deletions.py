"""Deletion requests of tools, which the user decides about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from soulmem.domain.audit import Actor
from soulmem.domain.ids import MemoryId, SoulId


class DeletionState(str, Enum):
    """State of a deletion request."""

    AWAITING = "awaiting_confirmation"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    EXPIRED = "expired"  # nobody answered: nothing happened


@dataclass(frozen=True, slots=True)
class Deletion:
    """A request to delete a memory. `quote` is its text at the time of the request."""

    id: str
    soul: SoulId
    memory: MemoryId
    actor: Actor
    reason: str
    quote: str
    requested: datetime  # aware
    state: DeletionState = DeletionState.AWAITING
    decided: datetime | None = None
