"""How closely a memory carries a tag that is asked for, in four levels.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Bools
from soulmem.language.keywords import STRONG

TAG_EXACT, TAG_PARTIAL, TEXT_EXACT, TEXT_PARTIAL = range(4)  # design 9
NO_LEVEL = 5
_KEYWORDS = 5  # of a message, as of a drafted episode
# What a level is worth, as a share of an exact tag: each level below counts a quarter less.
_WORTH = {TAG_EXACT: 1.0, TAG_PARTIAL: 0.75, TEXT_EXACT: 0.5, TEXT_PARTIAL: 0.25}


def tag_level(tags: Sequence[str], asked: str) -> int:
    """The level by the tags alone; NO_LEVEL without a match. `asked` is casefolded."""
    folded = [tag.casefold() for tag in tags]
    if asked in folded:
        return TAG_EXACT
    is_part = bool(asked) and any(asked in tag for tag in folded)
    return TAG_PARTIAL if is_part else NO_LEVEL


def tags_of(memory: Memory) -> tuple[str, ...]:
    """What the memory is tagged with; a message also with the names in it and what it is about.

    Those need not be stored: they follow the message.
    """
    if memory.kind is not MemoryKind.EPISODE or memory.origin is not Origin.CHAT:
        return memory.tags
    strong = (term.key for term in memory.terms if term.salience >= STRONG)
    own = dict.fromkeys((*memory.tags, *memory.names, *islice(strong, _KEYWORDS)))
    return tuple(own)


@compute_only
def rows_with_a_word(mind: Mind, asked: str) -> Bools:
    """The searched texts with a word of the query, bool[rows]; read from the index."""
    out = np.zeros(mind.size, np.bool_)
    for token in mind.tokeniser.tokens(asked):
        out[mind.words.rows(token)] = True
    return out


@compute_only
def level_of(mind: Mind, memory: Memory, asked: str, with_word: Bools | None = None) -> int:
    """The level by the tags, else by the text; NO_LEVEL without a match. `asked` is casefolded.

    with_word  of `rows_with_a_word`, where it is known: spares to cut the text into words
    """
    level = tag_level(tags_of(memory), asked)
    if level != NO_LEVEL:
        return level
    if asked in memory.text.casefold():
        return TEXT_EXACT
    if with_word is not None and mind.columns.searched[mind.row_of(memory)]:
        return TEXT_PARTIAL if with_word[mind.row_of(memory)] else NO_LEVEL
    words = set(mind.tokeniser.tokens(asked))
    is_part = not words.isdisjoint(mind.tokeniser.tokens(memory.text))
    return TEXT_PARTIAL if is_part else NO_LEVEL


@compute_only
def tag_share(mind: Mind, memory: Memory, asked: Sequence[str]) -> float:
    """How much of the tags asked for the memory carries, 0..1; 1 where it has each of them exactly."""
    worth = [_WORTH.get(level_of(mind, memory, word), 0.0) for word in asked]
    return sum(worth) / len(worth) if worth else 0.0
