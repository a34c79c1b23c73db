"""Promotion of memories to long-term memory."""

from __future__ import annotations

from soulmem.domain.memories import DERIVED, Memory
from soulmem.domain.usage import Usage

# Conditions of promotion; one suffices; design 5.
EXCHANGES = 2  # in which the memory was recalled
# Recalls that led over it to other memories; each counts half as much as a recall of it
ACTIVATIONS = 4
_IMPORTANCE = 0.6  # 0..1
IMPORTED = 20  # messages; a sync that adds more at once imports an old chat


def is_promoted(memory: Memory, usage: Usage | None, siblings: int, activations: int = 0) -> bool:
    """Whether the memory belongs to long-term memory.

    siblings     memories written together with it, itself among them
    activations  recalls that led to it or over it while it was in working memory
    """
    return (
        memory.origin not in DERIVED  # made by the user, or on the card
        or memory.permanent
        or memory.locked
        or memory.importance >= _IMPORTANCE
        or siblings > IMPORTED
        or (usage is not None and usage.exchanges() >= EXCHANGES)
        or activations >= ACTIVATIONS
    )
