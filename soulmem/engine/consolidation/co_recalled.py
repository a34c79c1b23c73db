"""Links between drafted memories and memories recalled while their scenes happened (Hebbian association).

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only

# How much is linked; design 5.
_TOP = 10  # recalled memories, the most frequently recalled first
_LINKS = 30  # at most, for one stretch
STRENGTH = 0.1  # 0..1, of a new link


@compute_only
def co_recalled(
    mind: Mind,
    chat: ChatId,
    read: Sequence[MemoryId],
    drafted: Mapping[MemoryId, Sequence[MemoryId]],
) -> list[tuple[MemoryId, MemoryId]]:
    """Pairs (drafted memory, recalled memory), the nearest first, at most `_LINKS`.

    read     the episodes of the stretch, in chat order
    drafted  the memories drafted from it, with the episodes that each cites

    Takes the `_TOP` most frequently recalled memories that a reply within the
    stretch recalled. The distance of a pair is counted in messages, from the reply to
    the nearest cited episode.
    """
    positions = {key: index for index, key in enumerate(read)}
    recalled = _recalled_at(mind, chat, read)
    top = _most_frequent(mind, recalled, _TOP)
    pairs = []
    for rank, key in enumerate(top):
        for memory, cited in drafted.items():
            if memory == key:
                continue
            distances = [
                abs(positions[episode] - recalled[key]) for episode in cited if episode in positions
            ]
            pairs.append((min(distances, default=len(read)), rank, memory, key))
    return [(memory, key) for _, _, memory, key in sorted(pairs)[:_LINKS]]


def _recalled_at(mind: Mind, chat: ChatId, read: Sequence[MemoryId]) -> dict[MemoryId, int]:
    """Memories recalled for replies of the stretch, with the position of the last such reply in `read`."""
    slots = {}
    for index, key in enumerate(read):
        slots[mind.memories[key].evidence[0][0].slot] = index
    recalled: dict[MemoryId, int] = {}
    for record in mind.recalls.records():
        position = slots.get(record.slot) if record.chat == chat else None
        if position is None:
            continue
        for trail in record.trails:
            if trail.memory in mind.memories:
                recalled[trail.memory] = position
    return recalled


def _most_frequent(mind: Mind, keys: Mapping[MemoryId, int], count: int) -> list[MemoryId]:
    """The `count` most frequently recalled of the keys, in this order; equal ones by id."""
    frequency = {}
    for key in keys:
        usage = mind.recalls.usage(key)
        if usage is not None:
            frequency[key] = usage.frequency()
    return sorted(frequency, key=lambda key: (-frequency[key], key))[:count]
