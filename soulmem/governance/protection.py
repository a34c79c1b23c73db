"""Protection of permanent and locked memories against changes by others than the user."""

from __future__ import annotations

from soulmem.domain.errors import Forbidden
from soulmem.domain.memories import Memory
from soulmem.domain.phrases import phrase


def is_protected(memory: Memory) -> bool:
    """Whether only the user may change or delete the memory."""
    return memory.permanent or memory.locked


def check_unprotected(memory: Memory) -> None:
    """Raises Forbidden for a memory that is permanent or locked."""
    if is_protected(memory):
        raise Forbidden(
            phrase(
                "memory_protected",
                "memory '{memory}' is permanent or locked: only the user may change or delete it, in"
                " the panel or with `soulmem`",
                memory=memory.id,
            ),
            field="arguments.memory_id",
        )
