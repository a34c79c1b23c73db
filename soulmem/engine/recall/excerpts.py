"""What is told of a long memory: the passages that say what the moment calls for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import ChatId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.decision import Judged, Line
from soulmem.engine.recall.line_matches import (
    passage_fit_by_tokens,
    passage_fit_by_words,
)
from soulmem.engine.runtime.worker import compute_only
from soulmem.language.clauses import Stretch
from soulmem.language.passages import PASSAGE, length_of, passages

# Characters up to which a text is told whole: cut, it would save one passage.
_WHOLE = 2 * PASSAGE
_MOST = 3  # passages of a memory
_NEAR = 0.6  # of the fit of the best passage, from which on another is told as well
_GAP = "…"


class Excerpts:
    """Chooses the part of each memory that an answer shows."""

    def __init__(self, mind: Mind, chat: ChatId | None, judged: Judged) -> None:
        self._mind = mind
        self._chat = chat
        lines = {id(each.line): each.line for each in judged.lines if each.line.text}
        self._lines: Sequence[Line] = tuple(lines.values())

    @compute_only
    def of(self, memory: Memory, row: int) -> str:
        """The text to show of the memory at `row`: of a long message the passages that fit the moment best."""
        text = memory.text
        if memory.kind is not MemoryKind.EPISODE or memory.permanent:
            return text
        if length_of(text) <= _WHOLE:
            return text
        stretches = passages(text)
        fit = self._fit(row, text, stretches)
        best = np.argsort(-fit, kind="stable")[:_MOST]
        chosen = sorted(best[fit[best] >= _NEAR * fit.max()].tolist())
        speaker = text[: len(text) - len(spoken(memory))]
        return excerpt(text, stretches, chosen, speaker)

    def _fit(self, row: int, text: str, stretches: Sequence[Stretch]) -> NDArray[np.float32]:
        """How far each passage says what a line of the moment says; without that what it says of this soul."""
        written = [text[start:end] for start, end in stretches]
        best = np.zeros(len(stretches), np.float32)
        for line in self._lines:
            fit = None
            if line.states is not None and line.usual is not None:
                fit = passage_fit_by_tokens(self._mind, self._chat, line.states, line.usual, row)
            if fit is None or fit.size != best.size:
                fit = passage_fit_by_words(self._mind, line.text, written)
            best = np.maximum(best, fit)
        if best.any():
            return best
        return passage_fit_by_words(self._mind, text, written)


def excerpt(text: str, stretches: Sequence[Stretch], chosen: Sequence[int], speaker: str) -> str:
    """The chosen passages in order, with a sign where others are left out, behind who says them.

    speaker  what the text begins with before its first word is said; may be empty
    """
    if len(chosen) == len(stretches):
        return text
    out = speaker if chosen[0] > 0 else ""
    parts: list[str] = []
    for before, number in zip([-1, *chosen], chosen, strict=False):
        start, end = stretches[number]
        said = text[start:end].strip()
        if before == number - 1:
            parts.append(said)
        else:
            parts += [_GAP, said]
    if chosen[-1] < len(stretches) - 1:
        parts.append(_GAP)
    return out + " ".join(parts)
