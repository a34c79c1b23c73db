"""Read texts: what a memory says at a look, with words or masks for what has blurred. Compute thread only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from soulmem.assembly.mask_times import readable_until
from soulmem.assembly.masks import Stretch, read_out
from soulmem.conversation.episodes import spoken
from soulmem.domain.memories import DERIVED, Memory, MemoryKind
from soulmem.domain.micro_units import UnitSpan
from soulmem.domain.soul import Masks
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.faded_texts import (
    FadedText,
    blurs,
    fadings_of,
    record_of,
    stays,
    times_of,
)
from soulmem.language.gists import topic_frame

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


_NEVER = 1_000_000.0  # turns; what outlasts them stays


@dataclass(frozen=True, slots=True)
class ReadText:
    """A memory as it reads; `faded` has the states that this follows from."""

    text: str
    faded: FadedText
    is_masked: bool = False
    is_empty: bool = False  # no word of it is left, and nothing that it tells of

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
    dial: float | None = None,
) -> list[ReadText]:
    """The memories as they read when `turn` exchanges are lived; see `fadings_of` for the rest."""
    faded = fadings_of(mind, memories, turn, ahead=ahead, dial=dial)
    return [
        read_of(
            mind.line_kinds.weighed(memory),
            state,
            frame=frame_of(mind, memory, state.text),
        )
        for memory, state in zip(memories, faded, strict=True)
    ]


@compute_only
def turns_left(mind: Mind, memory: Memory, extra: int) -> float | None:
    """Whole turns until nothing of the memory is told any more, 0 where nothing is; None if that never comes."""
    times = times_of(mind, memory, float(mind.lived_turns(extra)))
    spans = (unit.span for unit in times.units)
    memory = mind.line_kinds.weighed(memory)
    left = readable_until(times, _kept(memory, spans), _label(memory, times.text))
    return float(ceil(left)) if left <= _NEVER else None


def read_of(
    memory: Memory, faded: FadedText, said: Iterable[Stretch] = (), frame: str = ""
) -> ReadText:
    """How a memory reads in this state, whose text may be a part of the memory's own; see `read_out`."""
    kept = _kept(memory, (unit.span for unit in faded.units))
    read = read_out(
        faded.text,
        faded.units,
        faded.anchors,
        kept,
        said=said,
        frame=frame,
        label=_label(memory, faded.text),
    )
    return ReadText(read.text, faded, read.is_masked, read.is_empty)


def frame_of(mind: Mind, memory: Memory, text: str) -> str:
    """The frame of `read_out` for a text of the memory, "" where it reads with masks.

    Units by hand have gists that fit into no sentence; so they are told as masks.
    """
    if mind.soul.settings.masks is not Masks.WORDS:
        return ""
    record = record_of(mind, memory)
    return "" if record is not None and record.own_units else topic_frame(text)


def _kept(memory: Memory, spans: Iterable[UnitSpan]) -> list[Stretch]:
    """Where the units stand that never fade."""
    return [(span.start, span.end) for span in spans if stays(memory, span)]


def _label(memory: Memory, text: str) -> int:
    """Characters of the name of who speaks, in front of this text, which may be a part of the memory's own."""
    label = memory.text[: len(memory.text) - len(spoken(memory))]
    return len(label) if text.startswith(label) else 0
