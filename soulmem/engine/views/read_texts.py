"""Read texts: what a memory says at a look, with masks for what has blurred. Compute thread only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from soulmem.assembly.masks import read_out
from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.faded_texts import FadedText, fadings_of, stays


@dataclass(frozen=True, slots=True)
class ReadText:
    """A memory as it reads; `faded` has the states that this follows from."""

    text: str
    faded: FadedText
    is_masked: bool = False
    is_empty: bool = False  # no word of it is left and no gist

    @property
    def visibility(self) -> float:
        """Mean visibility of its outer units, 0..1."""
        return self.faded.visibility


@compute_only
def read_texts(
    mind: Mind,
    memories: Sequence[Memory],
    turn: float,
    *,
    ahead: float = 0.0,
    slowing: Mapping[MemoryId, float] | None = None,
    dial: float | None = None,
) -> list[ReadText]:
    """The memories as they read when `turn` exchanges are lived; see `fadings_of` for the rest."""
    faded = fadings_of(mind, memories, turn, ahead=ahead, slowing=slowing, dial=dial)
    return [
        read_of(memory, state) for memory, state in zip(memories, faded, strict=True)
    ]


def read_of(memory: Memory, faded: FadedText) -> ReadText:
    """How a memory reads in this state, whose text may be a part of the memory's own."""
    label = memory.text[: len(memory.text) - len(spoken(memory))]
    kept = [
        (unit.span.start, unit.span.end)
        for unit in faded.units
        if stays(memory, unit.span)
    ]
    size = len(label) if faded.text.startswith(label) else 0
    read = read_out(faded.text, faded.units, faded.anchors, kept, label=size)
    return ReadText(read.text, faded, read.is_masked, read.is_empty)
