"""Loading: stored memories get into a mind that is being opened, many at a time. Compute thread only."""

from __future__ import annotations

from collections.abc import Sequence

from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.engine.mind.mind import Mind
from soulmem.graph.columns import UNKNOWN
from soulmem.language.scripts import is_unspaced


def load_memories(mind: Mind, memories: Sequence[Memory], *, packed: bool) -> None:
    """Add memories that the mind has not, after the branches of its chats and before all edges.

    `Mind.apply` does the same, with a look at what was there before.

    packed  they are kept as bytes, as is due in a large soul
    """
    frame = mind.frame()
    rows = [frame.rows.add(memory.id) for memory in memories]
    mind.memories.load(rows, memories, packed=packed)
    mind.columns.put_all(rows, memories)
    searched = [memory.is_searched for memory in memories]
    mind.columns.searched[rows] = searched
    mind.columns.tokens[rows] = UNKNOWN
    mind.columns.unspaced[rows] = [is_unspaced(memory.text) for memory in memories]
    tokens, words = mind.tokeniser.tokens, mind.words
    for row, memory, is_searched in zip(rows, memories, searched, strict=True):
        if memory.kind is MemoryKind.CONCEPT:
            mind.names.put(memory)
            mind.drafted.put(memory)
        if memory.state is MemoryState.MERGED:
            mind.tellings.put(memory)
        mind.name_counts.swap(None, memory)
        mind.terms.load(row, memory)
        frame.visibility.load_flags(row, memory)
        if is_searched:
            words.put(row, tokens(memory.text))
            mind.vector_queue.load(memory.id, frame.pairs.ending_at(row))
