"""JSON values of memories, edges, opinions and fading in audit entries, and how they are read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, get_type_hints

import msgspec

from soulmem.domain.dialogue import text_hash
from soulmem.domain.edges import Edge
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.memories import Memory
from soulmem.domain.micro_units import Anchor, MicroUnit, Retention
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
    "merged_into",
    "kept_apart",
    "brought_back",
    "importance_given",
)
_MEMORY: Mapping[str, Any] = get_type_hints(Memory)
_EDGE: Mapping[str, Any] = get_type_hints(Edge)
STATES = "states"  # in place of a whole fading record
_EDGE_FIELDS = tuple(f.name for f in fields(Edge) if f.name != "soul")


def memory_values(memory: Memory, names: Iterable[str] = MEMORY_FIELDS) -> dict[str, Any]:
    """These fields of a memory as JSON values."""
    return {name: _plain(getattr(memory, name)) for name in names}


def memory_difference(old: Memory, new: Memory) -> tuple[dict[str, Any], dict[str, Any]]:
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
        name: msgspec.convert(values[name], _EDGE[name]) for name in _EDGE_FIELDS if name in values
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
    """The opinion that `opinion_values` described."""
    return msgspec.convert(values, Opinion)


def fading_values(record: FadingRecord | None) -> dict[str, Any] | None:
    """A fading record as JSON values; None where there was none."""
    if record is None or record.is_empty:
        return None
    values: dict[str, Any] = _plain(record)
    return values


def state_values(record: FadingRecord | None) -> dict[str, Any] | None:
    """The states of a fading record without any words, for entries that outlive the memory; None: no record."""
    if record is None:
        return None
    units = [(_place(unit), unit.retention) for unit in record.units]
    anchors = [(_mark(anchor), anchor.retention) for anchor in record.anchors]
    values: dict[str, Any] = _plain({STATES: dict((*units, *anchors))})
    return values


def with_states(record: FadingRecord, values: Mapping[str, Any]) -> FadingRecord:
    """The record with the states that `state_values` described; computed parts without one had none.

    What is left to be worded anew is of the lesson that is taken back, so that goes.
    """
    states = msgspec.convert(values[STATES], dict[str, Retention])
    units = [
        replace(unit, retention=states.get(_place(unit), unit.retention))
        for unit in record.units
        if record.own_units or _place(unit) in states
    ]
    anchors = [
        replace(anchor, retention=states.get(_mark(anchor), anchor.retention))
        for anchor in record.anchors
        if record.own_anchors or _mark(anchor) in states
    ]
    return replace(record, units=tuple(units), anchors=tuple(anchors), retold=None)


def _place(unit: MicroUnit) -> str:
    return f"{unit.span.start}-{unit.span.end}"


def _mark(anchor: Anchor) -> str:
    return f"{anchor.kind.value} {text_hash(anchor.text)}"


def fading_of_values(values: Any) -> FadingRecord:
    """The record that `fading_values` described."""
    return msgspec.convert(values, FadingRecord)


def _plain(value: Any) -> Any:
    """The value after a round trip over JSON, so that an entry is the same before and after it is stored."""
    return msgspec.json.decode(msgspec.json.encode(value))
