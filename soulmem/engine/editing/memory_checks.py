"""What the user's hand may do to a memory, and what becomes of it."""

from __future__ import annotations

from soulmem.domain.errors import Conflict, Unprocessable
from soulmem.domain.memories import (
    DERIVED,
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Timelines,
)
from soulmem.domain.phrases import phrase
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.tombstones import recreated_if_purged
from soulmem.engine.runtime.worker import compute_only


def follows_a_source(memory: Memory) -> bool:
    """True for a memory that the next import, message or draft would overwrite."""
    is_drafted_concept = memory.origin is Origin.MODEL and memory.kind is MemoryKind.CONCEPT
    return memory.origin is Origin.CARD or memory.is_learned_name or is_drafted_concept


def takes_over(memory: Memory, patch: MemoryPatch) -> bool:
    """True if the user's patch makes a derived memory the user's own."""
    fields = (patch.text, patch.permanent, patch.locked)
    return memory.origin in DERIVED and any(field is not None for field in fields)


def needs_a_place(memory: Memory, patch: MemoryPatch) -> bool:
    """True if the patch binds the memory to one timeline and its place is not known
    yet, or given anew.
    """
    if patch.timelines is not Timelines.THIS or memory.origin is not Origin.USER:
        return False
    return patch.chat is not None or memory.place is None


@compute_only
def check_purgeable(mind: Mind, memory: Memory) -> None:
    """Raises Conflict for a memory that is not in the bin or would come back."""
    if memory.state not in (MemoryState.BIN, MemoryState.RETRACTED):
        raise Conflict(
            phrase(
                "not_in_bin",
                "memory '{memory}' is not in the bin: delete it first",
                memory=memory.id,
            ),
            field="confirm",
        )
    if recreated_if_purged(mind, [memory]):
        raise Conflict(
            phrase(
                "would_come_back",
                "memory '{memory}' is told by a chat or the card and would come back: it stays in"
                " the bin until they do not tell it any more",
                memory=memory.id,
            ),
            field="confirm",
        )


def check_kind(memory: Memory, patch: MemoryPatch) -> None:
    """Raises Unprocessable when fields of another kind of memory were sent."""
    for detail, kind in (
        (patch.situation, MemoryKind.EPISODE),
        (patch.concept, MemoryKind.CONCEPT),
    ):
        if detail is not None and memory.kind is not kind:
            raise Unprocessable(
                phrase(
                    "fields_of_kind",
                    "these are fields of a memory of kind '{kind}'; '{memory}' is of kind '{own}'",
                    kind=kind.value,
                    memory=memory.id,
                    own=memory.kind.value,
                ),
                field="fields",
            )
