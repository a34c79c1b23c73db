"""How the memories of an answer read by now: what blurred is masked, what is asked for plainly comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from soulmem.assembly.masks import Stretch, Thresholds
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.micro_units import MicroUnit
from soulmem.engine.api.requests import RecallType
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.line_matches import rarity_in
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.faded_texts import FadedText, blurs, fading_of
from soulmem.engine.views.read_texts import frame_of, read_of
from soulmem.retrieval.query_strength import (
    query_strength,
    slowing_of,
)

_REPEATED = 0.8  # of the words of a memory; so many are in a query that repeats it
# What has faded entirely, a remark brings back as rarely as a memory that is a twentieth as likely.
_FADED = 0.05
_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
_EPISODES = (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)


@dataclass(frozen=True, slots=True)
class FadedMemory:
    """A memory as an answer tells it.

    memory      with the text as it reads now
    visibility  0..1, of the whole text as it is read out
    slowing     ages counted 1 / slowing of themselves; see `fading_of`
    is_empty    nothing of it is left to tell
    """

    memory: Memory
    visibility: float = 1.0
    slowing: float = 1.0
    is_masked: bool = False
    is_empty: bool = False


class FadedReader:
    """Reads memories for one answer."""

    def __init__(
        self,
        mind: Mind,
        context: RecallContext,
        best: float,
    ) -> None:
        """`best` is the standing of the candidate that stands out furthest; see `read`."""
        self._mind = mind
        self._turn = mind.lived_turns(context.extra_turns)
        asked = context.query.word_parts[-1][0] if context.query.word_parts else ""
        tokens = list(dict.fromkeys(mind.tokeniser.tokens(asked)))
        # Rarity of each word of the newest text.
        rarities = rarity_in(mind, tokens).tolist()
        self._asked: dict[str, float] = dict(zip(tokens, rarities, strict=True))
        self._texts = len(mind.words)
        self._best = best
        self._is_quiet = context.request.type is RecallType.QUIET
        said = (*context.prompt_texts, *(text for text, _ in context.query.word_parts))
        self._said = "\n".join(said).casefold()

    @compute_only
    def read(self, memory: Memory, rest: str, standing: float) -> FadedMemory:
        """The memory as it reads now, a message without empty lines: a prompt reads as if it ended there.

        memory    in its original wording
        rest      what of it the prompt does not say already
        standing  how far its own text stands out for this query, in standard deviations
        """
        read = self._read(memory, rest, standing)
        if memory.origin is not Origin.CHAT:
            return read
        text = _EMPTY_LINES.sub("\n", read.memory.text)
        return replace(read, memory=replace(read.memory, text=text))

    def _read(self, memory: Memory, rest: str, standing: float) -> FadedMemory:
        clear = FadedMemory(
            memory if rest == memory.text else replace(memory, text=rest)
        )
        mind = self._mind
        if not self._fades(memory):
            return clear
        words = set(mind.tokeniser.tokens(memory.text))
        strength = self._strength(words, standing)
        # A quiet look in the words of a memory shows it as it is, and asks for nothing of it.
        is_repeated = len(self._asked.keys() & words) >= _REPEATED * len(words)
        is_look = self._is_quiet and is_repeated
        slowing = 1.0 if is_look else slowing_of(strength)
        faded = fading_of(mind, memory, self._turn, slowing=slowing)
        if rest != memory.text and faded.text == memory.text:
            units = tuple(_moved(faded.text, rest, faded.units))
            faded = replace(faded, text=rest, units=units)
        reading = read_of(
            mind.line_kinds.weighed(memory),
            faded,
            () if is_look else self._said_details(faded),
            frame_of(mind, memory, faded.text),
        )
        return FadedMemory(
            memory=replace(memory, text=reading.text),
            visibility=faded.visibility,
            slowing=slowing,
            is_masked=reading.is_masked,
            is_empty=reading.is_empty,
        )

    @compute_only
    def ease(self, memory: Memory) -> float:
        """0..1, how easily a remark brings a memory back: the less, the more it has faded, and the more, the more
        of its words the remark says; 1 while it is clear.
        """
        if not self._fades(memory):
            return 1.0
        seen = fading_of(self._mind, memory, self._turn).visibility
        words = set(self._mind.tokeniser.tokens(memory.text))
        repeated = len(self._asked.keys() & words) / max(len(words), 1) / _REPEATED
        return max(_FADED, min(1.0, max(seen / Thresholds().clear, 2 * repeated - 1)))

    def _fades(self, memory: Memory) -> bool:
        """Whether the memory has parts that may fade, and the soul forgets."""
        mind = self._mind
        has_units = memory.kind in _EPISODES or mind.fading.of(memory.id) is not None
        return has_units and blurs(mind, memory)

    def _said_details(self, faded: FadedText) -> Iterator[Stretch]:
        """Where the details stand that the moment itself names: nobody forgets them now."""
        for unit in faded.units:
            span = unit.span
            words = faded.text[span.start : span.end]
            if span.is_detail and words.casefold() in self._said:
                yield span.start, span.end

    def _strength(self, words: set[str], standing: float) -> float:
        """How strongly the newest text of the query brings back a memory of these words, 0..1."""
        asked = self._asked
        total = sum(asked.values())
        shared = sum(asked[token] for token in asked.keys() & words)
        share = shared / total if total else 0.0
        return query_strength(standing, share, self._best, self._texts)


def _moved(text: str, rest: str, units: Iterable[MicroUnit]) -> Iterator[MicroUnit]:
    """The units whose words stand in a part of the text, where they stand there."""
    for unit in units:
        words = text[unit.span.start : unit.span.end]
        start = rest.find(words)
        if start >= 0:
            span = replace(unit.span, start=start, end=start + len(words))
            yield replace(unit, span=span)
