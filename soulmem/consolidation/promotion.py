"""Promotion of memories to long-term memory."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.memories import DERIVED, Memory
from soulmem.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class PromotionParams:
    """Conditions of promotion, any of which suffices; design 5."""

    exchanges: int = 2  # exchanges in which the memory was recalled
    # recalls that led over it to other memories; each counts half as much as a recall of it
    activations: int = 4
    importance: float = 0.6  # 0..1
    imported: int = 20  # messages; a sync that adds more at once imports an old chat


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
