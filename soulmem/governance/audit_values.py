"""What does an entry of the audit say of a memory or an edge, and how is that made into one again?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, get_type_hints

import msgspec

from soulmem.domain.edges import Edge
from soulmem.domain.memories import Memory
from soulmem.domain.opinions import Opinion

# What a memory is; its evidence and what its text is about follow from the chat and the text.
MEMORY_FIELDS = (
    *(
        "kind",
        "text",
        "tags",
        "importance",
        "permanent",
        "locked",
        "timelines",
        "state",
    ),
    *("origin", "place", "situation", "concept"),
)
_MEMORY: Mapping[str, Any] = get_type_hints(Memory)
_EDGE: Mapping[str, Any] = get_type_hints(Edge)
_EDGE_FIELDS = tuple(f.name for f in fields(Edge) if f.name != "soul")


def memory_values(
    memory: Memory, names: Iterable[str] = MEMORY_FIELDS
) -> dict[str, Any]:
    """These fields of a memory, as JSON can say them."""
    return {name: _plain(getattr(memory, name)) for name in names}


def memory_difference(
    old: Memory, new: Memory
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields in which they differ: as they were, and as they became."""
    names = [name for name in MEMORY_FIELDS if getattr(old, name) != getattr(new, name)]
    return memory_values(old, names), memory_values(new, names)


def memory_with_values(memory: Memory, values: Mapping[str, Any]) -> Memory:
    """The memory with these fields as they were told; others than those of `MEMORY_FIELDS` are ignored."""
    made = {
        name: msgspec.convert(values[name], _MEMORY[name])
        for name in MEMORY_FIELDS
        if name in values
    }
    return replace(memory, **made) if made else memory


def edge_values(edge: Edge) -> dict[str, Any]:
    """An edge, as JSON can say it."""
    return {name: _plain(getattr(edge, name)) for name in _EDGE_FIELDS}


def edge_difference(old: Edge, new: Edge) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields in which two states of an edge differ."""
    names = [name for name in _EDGE_FIELDS if getattr(old, name) != getattr(new, name)]
    return (
        {name: _plain(getattr(old, name)) for name in names},
        {name: _plain(getattr(new, name)) for name in names},
    )


def edge_with_values(edge: Edge, values: Mapping[str, Any]) -> Edge:
    """The edge with these fields as they were told."""
    made = {
        name: msgspec.convert(values[name], _EDGE[name])
        for name in _EDGE_FIELDS
        if name in values
    }
    return replace(edge, **made) if made else edge


def edge_of_values(soul: str, values: Mapping[str, Any]) -> Edge:
    """A whole edge, as `edge_values` told it."""
    return msgspec.convert({"soul": soul, **values}, Edge)


def opinion_values(opinion: Opinion) -> dict[str, Any]:
    """An opinion, as JSON can say it."""
    values: dict[str, Any] = _plain(opinion)
    return values


def opinion_of_values(values: Any) -> Opinion:
    """The opinion that an entry told; what else an older SoulMem wrote there has no meaning any more."""
    return msgspec.convert(values, Opinion)


def _plain(value: Any) -> Any:
    """The value as it comes back from JSON: what an entry says is the same before and after it was stored."""
    return msgspec.json.decode(msgspec.json.encode(value))
