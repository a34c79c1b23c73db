"""What came to mind while something happened? Hebb: what was recalled together is linked, however absurd.

Computes: worker only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.engine.mind.mind import Mind


@dataclass(frozen=True, slots=True)
class CoRecallParams:
    """How much is linked; design 5."""

    top: int = 10  # memories, those recalled most frequently
    links: int = 30  # at most, of one stretch
    strength: float = 0.1  # 0..1, of a new link


def co_recalled(
    mind: Mind,
    chat: ChatId,
    read: Sequence[MemoryId],
    drafted: Mapping[MemoryId, Sequence[MemoryId]],
    params: CoRecallParams,
) -> list[tuple[MemoryId, MemoryId]]:
    """Each drafted memory with what was recalled for a reply beside one of the episodes it cites.

    read     the episodes of the stretch, in order
    drafted  what was made of it, with the episodes it cites

    Of all that was recalled meanwhile the memories with the highest frequency of recall, and their nearest.
    """
    place = {mind.memories[key].evidence[0][0].slot: at for at, key in enumerate(read)}
    known = {key: at for at, key in enumerate(read)}
    came: dict[MemoryId, int] = {}
    for record in mind.recalls.records():
        at = place.get(record.slot) if record.chat == chat else None
        if at is not None:
            came.update(
                (t.memory, at) for t in record.trails if t.memory in mind.memories
            )
    usage = {
        key: found for key in came if (found := mind.recalls.usage(key)) is not None
    }
    often = sorted(usage, key=lambda key: (-usage[key].frequency(), key))[: params.top]
    pairs = []
    for key in often:
        for made, cited in drafted.items():
            near = min(
                (abs(known[one] - came[key]) for one in cited if one in known),
                default=len(read),
            )
            if made != key:
                pairs.append((near, often.index(key), made, key))
    return [(made, key) for _, _, made, key in sorted(pairs)[: params.links]]
