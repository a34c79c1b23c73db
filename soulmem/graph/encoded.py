"""How is a memory kept in a few bytes? As one record that is read again when somebody asks for it."""

from __future__ import annotations

from dataclasses import fields
from sys import intern
from typing import Any, get_type_hints

import msgspec

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.domain.situation import ConceptDetail, Situation

_NOTHING, _PLAIN = Situation(), ConceptDetail()
_HINTS = get_type_hints(Memory)
# The text is asked for most, so it stands first: what follows need not be looked at.
_NAMES = ("text", *(f.name for f in fields(Memory) if f.name != "text"))
_PLACES = tuple(_NAMES.index(f.name) for f in fields(Memory))
_ID, _SOUL, _SITUATION, _CONCEPT = map(_NAMES.index, ("id", "soul", "situation", "concept"))
_TYPES: Any = tuple[tuple(_HINTS[name] | None if name == "situation" else _HINTS[name] for name in _NAMES)]  # type: ignore[misc]


class _Head(msgspec.Struct, array_like=True):
    """The beginning of a record."""

    text: str


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[tuple[Any, ...]] = msgspec.msgpack.Decoder(_TYPES)
_head: msgspec.msgpack.Decoder[_Head] = msgspec.msgpack.Decoder(_Head)


def encoded(memory: Memory) -> bytes:
    """The memory as bytes, without its id. Raises UnicodeEncodeError for what is no Unicode text."""
    values = [getattr(memory, name) for name in _NAMES]
    values[_ID] = ""
    if memory.situation == _NOTHING:
        values[_SITUATION] = None
    return _encoder.encode(values)


def decoded(record: bytes, key: MemoryId) -> Memory:
    """The memory again, whose id is `key`; moments are told in UTC. Some 5 microseconds."""
    values = list(_decoder.decode(record))
    values[_ID], values[_SOUL] = key, intern(values[_SOUL])  # the very texts that others know it by
    if values[_SITUATION] is None:
        values[_SITUATION] = _NOTHING
    if values[_CONCEPT] == _PLAIN:
        values[_CONCEPT] = _PLAIN
    return Memory(*[values[place] for place in _PLACES])


def text_of(record: bytes) -> str:
    """The text alone, much sooner."""
    return _head.decode(record).text
