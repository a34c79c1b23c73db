"""What is known of a memory's recalls: when and how often it came to mind, and each recall with its paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId

STAMPS = 64  # time stamps kept of a memory; the count goes on
WINDOW = 3.0  # turns; T0 of design 5, the window of the chat that is always in mind


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment on both clocks."""

    moment: datetime  # aware
    turn: int  # the soul's clock, in exchanges


@dataclass(frozen=True, slots=True)
class Usage:
    """The recall record of one memory. Only recalls whose reply was kept are in it."""

    memory: MemoryId
    soul: SoulId
    count: int
    first: Stamp
    stamps: tuple[Stamp, ...]  # the last ones, at most STAMPS, oldest first

    @property
    def last(self) -> Stamp:
        """The latest recall."""
        return self.stamps[-1]

    def again(self, stamp: Stamp) -> Usage:
        """The record with one recall more, the latest."""
        return replace(
            self, count=self.count + 1, stamps=(*self.stamps, stamp)[-STAMPS:]
        )

    def exchanges(self) -> int:
        """In how many different exchanges it was recalled, as far as the stamps go back."""
        return len({stamp.turn for stamp in (self.first, *self.stamps)})

    def frequency(self, window: float = WINDOW) -> float:
        """Recalls per turn, f = n / max(T, window): T turns lie between the first and the last recall.

        `window` > 0, in turns: a memory recalled once has no T of its own.
        """
        return self.count / max(float(self.last.turn - self.first.turn), window)


def first_use(memory: MemoryId, soul: SoulId, stamp: Stamp) -> Usage:
    """The record of a memory that was recalled for the first time."""
    return Usage(memory, soul, 1, stamp, (stamp,))


@dataclass(frozen=True, slots=True)
class Trail:
    """How a recall came to one memory; without any way when the cue met the memory itself."""

    memory: MemoryId
    via: tuple[
        MemoryId, ...
    ] = ()  # the memories before it, the first one met by the cue
    edges: tuple[
        str, ...
    ] = ()  # one from each of `via` to the next, the last one to `memory`


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """One recall whose reply was kept: what came to mind, by which ways, for which reply."""

    trace: str
    soul: SoulId
    chat: ChatId
    slot: SlotId
    swipe: int
    stamp: Stamp
    trails: tuple[Trail, ...]
