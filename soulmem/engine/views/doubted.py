"""Doubted memories: those whose present wording the user called wrong; no recall uses them.

Compute thread only.
"""

from __future__ import annotations

from soulmem.domain.dialogue import text_hash
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.opinions import Opinion
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.graph.association import MEMORY_KINDS

_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)


@compute_only
def opinion_of(mind: Mind, memory: MemoryId) -> Opinion:
    """The user's opinion of the memory; a neutral one by default."""
    return mind.opinions.of(memory) or Opinion(memory, mind.soul.id)


@compute_only
def is_in_doubt(mind: Mind, memory: MemoryId) -> bool:
    """Whether the user called the present wording of the memory or fact wrong."""
    opinion = mind.opinions.of(memory)
    if opinion is None or opinion.doubted is None or mind.row(memory) is None:
        return False
    return opinion.doubts(mind.text_of(memory))


@compute_only
def with_doubt(mind: Mind, memory: MemoryId, text: str, in_doubt: bool) -> Opinion:
    """The opinion after the user put this wording in doubt, or withdrew the doubt."""
    old = opinion_of(mind, memory)
    return Opinion(
        old.memory,
        old.soul,
        old.score,
        text_hash(text) if in_doubt else None,
        old.not_in,
    )


@compute_only
def rows_in_doubt(mind: Mind) -> list[int]:
    """The rows of all memories and facts in doubt."""
    keys = (key for key in mind.opinions.doubted() if is_in_doubt(mind, key))
    return [row for key in keys if (row := mind.row(key)) is not None]


@compute_only
def blocked_for_walks(mind: Mind, rows: list[int]) -> list[int]:
    """Those of these doubted rows that a walk may not pass through: all but concepts."""
    return [row for row in rows if mind.columns.kind[row] != _CONCEPT]
