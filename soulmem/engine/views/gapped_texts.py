"""Gapped texts: how a memory was told where parts of it have blurred."""

from __future__ import annotations

from soulmem.conversation.episodes import spoken
from soulmem.domain.memories import DERIVED, Memory, MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.faded_texts import blurs
from soulmem.engine.views.read_texts import ReadText

_EPISODES = (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)


@compute_only
def may_be_reworded(mind: Mind, memory: Memory) -> bool:
    """Whether its text may be worded anew: it fades, nobody wrote it by hand, and the soul's settings allow it."""
    allowed = mind.soul.settings.rewords and blurs(mind, memory)
    return allowed and memory.kind in _EPISODES and memory.origin in DERIVED


def gapped_text(memory: Memory, read: ReadText) -> str | None:
    """The text with its gaps, the name of the speaker left out; None where it has none, or is nothing but gaps."""
    if not read.is_masked or read.is_empty:
        return None
    return read.text[label_length(memory) :]


def label_length(memory: Memory) -> int:
    """Characters of the name of who speaks, in front of the text; its rewording has the same."""
    return len(memory.text) - len(spoken(memory))
