"""JSON values of memories, edges and opinions in audit entries, and how they are read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, get_type_hints

import msgspec

from soulmem.domain.edges import Edge
from soulmem.domain.memories import Memory
from soulmem.domain.opinions import Opinion

# The fields of a memory in audit entries; its evidence and concepts follow from the chat and the text.
MEMORY_FIELDS = (
    "kind",
    "text",
    "tags",
    "importance",
    "permanent",
    "locked",
    "timelines",
    "state",
    "origin",
    "place",
    "situation",
    "concept",
)
_MEMORY: Mapping[str, Any] = get_type_hints(Memory)
_EDGE: Mapping[str, Any] = get_type_hints(Edge)
_EDGE_FIELDS = tuple(f.name for f in fields(Edge) if f.name != "soul")


def memory_values(
    memory: Memory, names: Iterable[str] = MEMORY_FIELDS
) -> dict[str, Any]:
    """These fields of a memory as JSON values."""
    return {name: _plain(getattr(memory, name)) for name in names}


def memory_difference(
    old: Memory, new: Memory
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields in which two states of a memory differ: old values, new values."""
    names = [name for name in MEMORY_FIELDS if getattr(old, name) != getattr(new, name)]
    return memory_values(old, names), memory_values(new, names)


def memory_with_values(memory: Memory, values: Mapping[str, Any]) -> Memory:
    """The memory with these field values; keys that are not in `MEMORY_FIELDS` are ignored."""
    made = {
        name: msgspec.convert(values[name], _MEMORY[name])
        for name in MEMORY_FIELDS
        if name in values
    }
    return replace(memory, **made) if made else memory


def edge_values(edge: Edge) -> dict[str, Any]:
    """The fields of an edge as JSON values."""
    return {name: _plain(getattr(edge, name)) for name in _EDGE_FIELDS}


def edge_difference(old: Edge, new: Edge) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields in which two states of an edge differ: old values, new values."""
    names = [name for name in _EDGE_FIELDS if getattr(old, name) != getattr(new, name)]
    return (
        {name: _plain(getattr(old, name)) for name in names},
        {name: _plain(getattr(new, name)) for name in names},
    )


def edge_with_values(edge: Edge, values: Mapping[str, Any]) -> Edge:
    """The edge with these field values; unknown keys are ignored."""
    made = {
        name: msgspec.convert(values[name], _EDGE[name])
        for name in _EDGE_FIELDS
        if name in values
    }
    return replace(edge, **made) if made else edge


def edge_of_values(soul: str, values: Mapping[str, Any]) -> Edge:
    """The edge that `edge_values` described."""
    return msgspec.convert({"soul": soul, **values}, Edge)


def opinion_values(opinion: Opinion) -> dict[str, Any]:
    """An opinion as JSON values."""
    values: dict[str, Any] = _plain(opinion)
    return values


def opinion_of_values(values: Any) -> Opinion:
    """The opinion that `opinion_values` described; further keys of older versions are ignored."""
    return msgspec.convert(values, Opinion)


def _plain(value: Any) -> Any:
    """The value after a round trip over JSON, so that an entry is the same before and after it is stored."""
    return msgspec.json.decode(msgspec.json.encode(value))
