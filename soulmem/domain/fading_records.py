"""What is kept of how the text of one memory fades, where it does not follow from the text."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.dialogue import text_hash
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.micro_units import Anchor, MicroUnit


@dataclass(frozen=True, slots=True)
class Retelling:
    """A reply that was kept, for which a text was told with gaps: what it made of them may be worded anew."""

    text: str  # as it was told
    chat: ChatId
    slot: SlotId  # of the reply


@dataclass(frozen=True, slots=True)
class FadingRecord:
    """The states of units and anchors that were touched or given by hand, as of when they were.

    A memory without a record has the units and anchors that are computed for it, as clear as its age leaves
    them. The record counts only for the wording it was made for: another text has no states yet.
    """

    memory: MemoryId
    soul: SoulId
    wording: str  # `text_hash` of the text that the units are parts of
    units: tuple[MicroUnit, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    own_units: bool = False  # by hand: there are no others; else states of computed ones
    own_anchors: bool = False  # the same of anchors
    reworded: str | None = None  # the text that is told instead of the memory's own
    reply: MemoryId | None = None  # the episode of the reply that the rewording is by
    retold: Retelling | None = None  # the latest that is not worded anew yet

    def fits(self, text: str) -> bool:
        """Whether it was made for that text of the memory, or for the rewording it has itself."""
        return self.wording == text_hash(text if self.reworded is None else self.reworded)

    @property
    def is_empty(self) -> bool:
        """True if it says nothing that is not computed anyway."""
        by_hand = self.own_units or self.own_anchors
        told_anew = self.reworded is not None or self.retold is not None
        return not (by_hand or told_anew or self.units or self.anchors)
