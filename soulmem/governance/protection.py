"""Protection of permanent and locked memories against changes by others than the user."""

from __future__ import annotations

from soulmem.domain.errors import Forbidden
from soulmem.domain.memories import Memory


def is_protected(memory: Memory) -> bool:
    """Whether only the user may change or delete the memory."""
    return memory.permanent or memory.locked


def check_unprotected(memory: Memory) -> None:
    """Raises Forbidden for a memory that is permanent or locked."""
    if is_protected(memory):
        how = "permanent" if memory.permanent else "locked"
        raise Forbidden(
            f"memory {memory.id!r} is {how}: only the user may change or delete it, in the panel or with"
            " `soulmem`",
            field="arguments.memory_id",
        )
