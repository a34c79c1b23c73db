"""A search with tags: what carries a tag comes first, in four levels, then what the recall found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from soulmem.domain.memories import Memory, MemoryState
from soulmem.engine.api.requests import TimeRange
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.engine.views.provenance import source_places
from soulmem.engine.views.tag_levels import (
    NO_LEVEL,
    level_of,
    tag_level,
    tags_of,
)

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TagSearch:
    """What is asked for: tags (casefolded), the span of time, and how many memories at most."""

    tags: tuple[str, ...]
    span: TimeRange | None
    limit: int


@compute_only
def with_tagged(
    mind: Mind, recalled: Sequence[RecalledMemory], asked: TagSearch
) -> list[Result]:
    """The recalled memories and those that carry a tag, best level first, then in the order of the recall."""
    # level, then recalled or not, then the rank of the recall or the newest first
    ranked: list[tuple[int, int, float, Result]] = []
    for rank, found in enumerate(recalled):
        memory = mind.memories.get(found.id)  # None for a fact
        levels = [level_of(mind, memory, tag) for tag in asked.tags] if memory else []
        level = min(levels, default=NO_LEVEL)
        ranked.append((level, 0, rank, recalled_fields(found)))
    known = {found.id for found in recalled}
    for memory in mind.memories.values():
        level = min(tag_level(tags_of(memory), tag) for tag in asked.tags)
        if level != NO_LEVEL and memory.id not in known and _fits(mind, memory, asked):
            newest = -memory.happened.timestamp()
            ranked.append((level, 1, newest, _tagged_fields(mind, memory)))
    ranked.sort(key=lambda entry: entry[:3])
    return [result for *_, result in ranked[: asked.limit]]


def _fits(mind: Mind, memory: Memory, asked: TagSearch) -> bool:
    """Whether a recall might bring the memory, and it lies in the span."""
    if memory.state is not MemoryState.ACTIVE or is_in_doubt(mind, memory.id):
        return False
    start = asked.span.start if asked.span else None
    end = asked.span.end if asked.span else None
    is_after = start is None or memory.ended >= start
    return is_after and (end is None or memory.happened < end)


def _tagged_fields(mind: Mind, memory: Memory) -> Result:
    return {
        "id": memory.id,
        "kind": memory.kind.value,
        "text": memory.text,
        "score": 0.0,
        "permanent": memory.permanent,
        "why": "it carries a tag that was asked for",
        "sources": [
            {"chat": place.chat, "slot": place.slot}
            for place in source_places(mind, memory)
        ],
    }


def recalled_fields(memory: RecalledMemory) -> Result:
    """A recalled memory as the result of a tool."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": memory.text,
        "score": memory.score,
        "permanent": memory.permanent,
        "why": memory.why,
        "sources": [
            {"chat": place.chat, "slot": place.slot} for place in memory.sources
        ],
    }
