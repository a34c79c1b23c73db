"""Drafted anchors: words of a drafted episode that its draft marks as words not to fade."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind


def drafted_episode_id(derivation: str, number: int) -> MemoryId:
    """The memory id of the `number`-th episode of a derivation."""
    return MemoryId(derived_id("d", derivation, "episode", str(number)))


def drafted_anchors(mind: Mind, memory: Memory) -> tuple[str, ...]:
    """The anchors of the memory's drafts that still occur in its text, each once."""
    out: dict[str, None] = {}
    for derivation in mind.derivations.of(memory.id):
        for number, draft in enumerate(derivation.drafts.episodes):
            if not draft.anchors:
                continue
            if drafted_episode_id(derivation.id, number) == memory.id:
                words = (word for word in draft.anchors if word in memory.text)
                out.update(dict.fromkeys(words))
    return tuple(out)
