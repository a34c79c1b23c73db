"""Which memories are kept for good, and which still have to prove themselves."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.memories import DERIVED, Memory
from soulmem.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class PromotionParams:
    """What makes a memory last; design 5."""

    exchanges: int = 2  # recalled in so many different ones
    # .. or gone over so often on the way to others: each tells half as much as coming to mind itself.
    activations: int = 4
    importance: float = 0.6  # 0..1
    imported: int = 20  # messages; a sync that adds more at once reads an old chat, it does not live one


def is_promoted(
    memory: Memory,
    usage: Usage | None,
    siblings: int,
    params: PromotionParams,
    activations: int = 0,
) -> bool:
    """Whether the memory belongs to long-term memory.

    siblings     memories written together with it, itself among them
    activations  recalls that led to it or over it while it was in working memory
    """
    return (
        memory.origin not in DERIVED  # made by the user, or on the card
        or memory.permanent
        or memory.locked
        or memory.importance >= params.importance
        or siblings > params.imported
        or (usage is not None and usage.exchanges() >= params.exchanges)
        or activations >= params.activations
    )
