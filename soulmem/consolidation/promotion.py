"""Which memories are kept for good, and which still have to prove themselves."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.memories import DERIVED, Memory
from soulmem.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class PromotionParams:
    """What makes a memory last; design 5."""

    exchanges: int = 2  # recalled in so many different ones
    importance: float = 0.6  # 0..1
    imported: int = 20  # messages; a sync that adds more at once reads an old chat, it does not live one


def is_promoted(memory: Memory, usage: Usage | None, siblings: int, params: PromotionParams) -> bool:
    """Whether the memory belongs to long-term memory.

    `siblings` counts the memories written together with it, itself among them.
    """
    return (
        memory.origin not in DERIVED  # made by the user, or on the card
        or memory.permanent
        or memory.locked
        or memory.importance >= params.importance
        or siblings > params.imported
        or (usage is not None and usage.exchanges() >= params.exchanges)
    )
