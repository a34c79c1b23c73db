"""Doubted memories: those whose present wording the user called wrong, and drafts that wait to be confirmed.

No recall uses them.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection

from soulmem.domain.derivations import WAITING
from soulmem.domain.dialogue import text_hash
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.domain.opinions import NEUTRAL, Opinion
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.arcs import MEMORY_KINDS

_CONCEPT = MEMORY_KINDS.index(MemoryKind.CONCEPT)


@compute_only
def opinion_of(mind: Mind, memory: MemoryId) -> Opinion:
    """The user's opinion of the memory; a neutral one by default."""
    return mind.opinions.of(memory) or Opinion(memory, mind.soul.id)


@compute_only
def is_waiting(mind: Mind, memory: str) -> bool:
    """Whether a draft's lines hardly carry it, and nobody confirmed it: no other draft, nor the user."""
    return (
        mind.derivations.confidence(memory) < WAITING
        and _is_draft(mind, memory)
        and not _is_confirmed(mind, memory)
    )


@compute_only
def waiting(mind: Mind) -> list[str]:
    """Ids of all memories and facts that wait to be confirmed."""
    return [key for key in mind.derivations.waiting() if is_waiting(mind, key)]


def _is_draft(mind: Mind, key: str) -> bool:
    """Whether it is as a model drafted it; what the user edits is his."""
    memory, edge = mind.memories.get(MemoryId(key)), mind.edges.get(key)
    stored = memory or edge
    return stored is not None and stored.origin is Origin.MODEL


def _is_confirmed(mind: Mind, key: str) -> bool:
    opinion = mind.opinions.of(MemoryId(key))
    return opinion is not None and opinion.score >= NEUTRAL


@compute_only
def is_in_doubt(mind: Mind, memory: MemoryId) -> bool:
    """Whether the user called the present wording of the memory or fact wrong, or it waits to be confirmed."""
    return is_waiting(mind, memory) or _is_called_wrong(mind, memory)


def _is_called_wrong(mind: Mind, memory: MemoryId) -> bool:
    opinion = mind.opinions.of(memory)
    if opinion is None or opinion.doubted is None or mind.row(memory) is None:
        return False
    return opinion.doubts(mind.text_of(memory))


@compute_only
def doubted_among(mind: Mind, memories: Collection[MemoryId]) -> set[MemoryId]:
    """Those of the memories that are in doubt."""
    candidates = set(_candidates(mind)).intersection(memories)
    return {key for key in candidates if is_in_doubt(mind, key)}


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
    keys = (key for key in _candidates(mind) if is_in_doubt(mind, key))
    return [row for key in keys if (row := mind.row(key)) is not None]


def _candidates(mind: Mind) -> list[MemoryId]:
    """The memories that may be in doubt."""
    return [*mind.opinions.doubted(), *map(MemoryId, mind.derivations.waiting())]


@compute_only
def blocked_for_walks(mind: Mind, rows: list[int]) -> list[int]:
    """Those of these doubted rows that a walk may not pass through: all but concepts."""
    return [row for row in rows if mind.columns.kind[row] != _CONCEPT]
