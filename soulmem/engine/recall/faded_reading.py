"""How the memories of an answer read by now: what blurred is masked, what is asked for plainly comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import sqrt

from soulmem.assembly.masks import Stretch, Thresholds
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.micro_units import MicroUnit
from soulmem.engine.api.requests import RecallType
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.line_matches import rarity_in
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.faded_texts import FadedText, blurs, fading_of
from soulmem.engine.views.read_texts import frame_of, read_of

# The most that an age is divided by. After 3,000 exchanges 16 left gaps in four of five memories of
# role-play chats that were asked plainly, 24 in one of six, 32 in hardly any.
MOST_SLOWING = 32.0
# Standard deviations by which the text of the memory stands out: it drifts by; the query means it. In these
# chats nine of ten that were asked plainly stood out by 4, half of the others by less than 3.5.
DRIFTING = 2.75
MEANT = 4.0
# Of n texts the best can stand out by sqrt(n - 1): in a small soul this share of it is enough.
_REACHABLE = 0.75
# Share, 0..1, of the rarity of the query's words that the memory has, too.
_FEW_WORDS = 0.3
_MOST_WORDS = 0.7


def query_strength(standing: float, shared: float, best: float, texts: int) -> float:
    """0..1: 0 the memory merely drifts by, 1 the query means it.

    standing  of its text among all `texts`, in standard deviations
    shared    0..1, of the query's words in it, weighted by rarity
    best      standing of the text that stands out furthest; it is meant, unless it merely drifts by
    """
    reached = _REACHABLE * sqrt(max(texts - 1, 0))
    meant = min(MEANT, reached, max(DRIFTING, best))
    drifting = meant * DRIFTING / MEANT
    by_text = (standing - drifting) / (meant - drifting) if meant else 0.0
    by_words = (shared - _FEW_WORDS) / (_MOST_WORDS - _FEW_WORDS)
    return min(1.0, max(0.0, by_text, by_words))


def slowing_of(strength: float) -> float:
    """1 .. `MOST_SLOWING`: divisor of the age of a memory that a query of that strength brings back."""
    return float(MOST_SLOWING**strength)


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
        clear = FadedMemory(memory if rest == memory.text else replace(memory, text=rest))
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
