"""Recall statistics of a memory, and each recall with its paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId

STAMPS = 64  # time stamps kept of a memory; the count goes on
WINDOW = 3.0  # turns; T0 of design 5, the window of the chat that is always in mind


@dataclass(frozen=True, slots=True)
class Stamp:
    """Wall-clock time and the soul's clock at one moment."""

    moment: datetime  # aware
    turn: int  # the soul's clock, in exchanges


@dataclass(frozen=True, slots=True)
class Usage:
    """Recall statistics of one memory; counts only recalls whose reply was kept."""

    memory: MemoryId
    soul: SoulId
    count: int
    first: Stamp
    stamps: tuple[Stamp, ...]  # the last ones, at most STAMPS, oldest first

    @property
    def last(self) -> Stamp:
        """Stamp of the latest recall."""
        return self.stamps[-1]

    def again(self, stamp: Stamp) -> Usage:
        """The statistics after one more recall, the latest."""
        return replace(self, count=self.count + 1, stamps=(*self.stamps, stamp)[-STAMPS:])

    def exchanges(self) -> int:
        """Number of different exchanges with a recall, as far as the stamps reach back."""
        return len({stamp.turn for stamp in (self.first, *self.stamps)})

    def frequency(self, window: float = WINDOW) -> float:
        """f = n / max(T, window): recalls per turn, with T turns between first and last recall.

        `window` > 0, in turns: T of a memory recalled once is 0.
        """
        return self.count / max(float(self.last.turn - self.first.turn), window)


def first_use(memory: MemoryId, soul: SoulId, stamp: Stamp) -> Usage:
    """Statistics of a memory recalled for the first time."""
    return Usage(memory, soul, 1, stamp, (stamp,))


@dataclass(frozen=True, slots=True)
class Trail:
    """Path of a recall to one memory; empty if the query matched the memory itself."""

    memory: MemoryId
    # The memories before it, the first one met by the cue
    via: tuple[MemoryId, ...] = ()
    # One from each of `via` to the next, the last one to `memory`
    edges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """One recall whose reply was kept: the memories, their paths, and the reply."""

    trace: str
    soul: SoulId
    chat: ChatId
    slot: SlotId
    swipe: int
    stamp: Stamp
    trails: tuple[Trail, ...]
