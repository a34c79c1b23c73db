"""Which words of a memory should not fade? Those that its draft says are to be kept."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId, derived_id
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind


def drafted_episode_id(derivation: str, number: int) -> MemoryId:
    """The memory of the episode of this number in a draft."""
    return MemoryId(derived_id("d", derivation, "episode", str(number)))


def anchors_of(mind: Mind, memory: Memory) -> tuple[str, ...]:
    """Words of the memory's text that spontaneously stay, each once; those that were reworded are none."""
    out: dict[str, None] = {}
    for one in mind.derivations.of(memory.id):
        for number, draft in enumerate(one.drafts.episodes):
            if draft.anchors and drafted_episode_id(one.id, number) == memory.id:
                out.update(
                    dict.fromkeys(word for word in draft.anchors if word in memory.text)
                )
    return tuple(out)
