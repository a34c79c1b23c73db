"""May anybody but the user's own hand touch this memory?"""

from __future__ import annotations

from soulmem.domain.errors import Forbidden
from soulmem.domain.memories import Memory


def is_protected(memory: Memory) -> bool:
    """Whether it is the user's alone to change or delete."""
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
