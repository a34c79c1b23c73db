"""A memory as a compressed record of bytes: msgpack, deflated with the text as dictionary."""

from __future__ import annotations

import zlib
from dataclasses import fields
from datetime import datetime, timezone
from sys import intern
from typing import Any, get_type_hints

import msgspec

from soulmem.domain.dialogue import Version
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin, Timelines
from soulmem.domain.situation import ConceptDetail, Participant, Situation, TimeSpan
from soulmem.domain.terms import Term

_NOTHING, _PLAIN = Situation(), ConceptDetail()
_APART = ("id", "text", "terms")
_NAMES = tuple(f.name for f in fields(Memory) if f.name not in _APART)
_ORDER = tuple((*_APART, *_NAMES).index(f.name) for f in fields(Memory))
_SOUL, _SITUATION, _CONCEPT = map(_NAMES.index, ("soul", "situation", "concept"))
_STEPS = 1000  # a salience has three digits and is kept as a whole number; any other as it is
_WINDOW = -12  # 4 kB and no header: what is written is short

_HINTS = get_type_hints(Memory)
_TYPES = (
    *(tuple[str, ...], tuple[int | float, ...]),  # terms and their saliences
    *(_HINTS[name] | None if name == "situation" else _HINTS[name] for name in _NAMES),
)


class _Head(msgspec.Struct, array_like=True):
    """Beginning of a record: the text can be read without decoding the rest."""

    text: str


_encoder = msgspec.msgpack.Encoder()
_rest_type: Any = tuple[_TYPES]  # type: ignore[valid-type]
_rest_decoder: msgspec.msgpack.Decoder[tuple[Any, ...]] = msgspec.msgpack.Decoder(_rest_type)
_whole: msgspec.msgpack.Decoder[tuple[str, bytes]] = msgspec.msgpack.Decoder(tuple[str, bytes])
_head: msgspec.msgpack.Decoder[_Head] = msgspec.msgpack.Decoder(_Head)


def encoded(memory: Memory) -> bytes:
    """The memory as bytes, without its id. Raises UnicodeEncodeError for invalid Unicode.

    The text as it is, then all other fields, deflated with the text as dictionary, as terms
    are words of it. Less than half the size of plain msgpack, for some 10 microseconds.
    """
    deflate = zlib.compressobj(
        zlib.Z_BEST_COMPRESSION,
        zlib.DEFLATED,
        _WINDOW,
        zlib.DEF_MEM_LEVEL,
        zlib.Z_FIXED,
        _known(memory.text),
    )
    return _encoder.encode((memory.text, deflate.compress(_rest(memory)) + deflate.flush()))


def decoded(record: bytes | memoryview, key: MemoryId) -> Memory:
    """The memory of a record, with id `key`; moments are in UTC. Some 10 microseconds."""
    text, deflated = _whole.decode(record)
    rest = zlib.decompressobj(_WINDOW, _known(text)).decompress(deflated)
    words, saliences, *values = _rest_decoder.decode(rest)
    values[_SOUL] = intern(values[_SOUL])  # the very text that others know it by
    if values[_SITUATION] is None:
        values[_SITUATION] = _NOTHING
    if values[_CONCEPT] == _PLAIN:
        values[_CONCEPT] = _PLAIN
    numbers = [number / _STEPS if type(number) is int else number for number in saliences]
    values_by_column = (key, text, tuple(map(Term, words, numbers)), *values)
    return Memory(*[values_by_column[place] for place in _ORDER])


def text_of(record: bytes | memoryview) -> str:
    """Only the text of a record; much faster than `decoded`."""
    return _head.decode(record).text


def _rest(memory: Memory) -> bytes:
    values = [getattr(memory, name) for name in _NAMES]
    if memory.situation == _NOTHING:
        values[_SITUATION] = None
    numbers = [
        whole
        if (whole := round(_STEPS * term.salience)) / _STEPS == term.salience
        else float(term.salience)
        for term in memory.terms
    ]
    return _encoder.encode(([term.key for term in memory.terms], numbers, *values))


def _known(text: str) -> bytes:
    """Dictionary for deflate: frequent content first, the lower-case text last (cheapest)."""
    return _USUAL + text.lower().encode()


def _usual() -> bytes:
    """Sample record of field names and default values, part of the dictionary."""
    moment = datetime(2026, 1, 1, tzinfo=timezone.utc)
    soul = SoulId("")
    concept = Memory(
        MemoryId(""), soul, MemoryKind.CONCEPT, ".", Origin.USER, moment, concept=_PLAIN
    )
    episode = Memory(
        MemoryId(""),
        soul,
        MemoryKind.EPISODE,
        ".",
        Origin.CHAT,
        moment,
        importance=0.2,
        timelines=Timelines.THIS,
        evidence=((Version(SlotId(""), ""),),),
        situation=Situation(TimeSpan(moment, moment), participants=(Participant(""),)),
    )
    return _rest(concept) + _rest(episode)


_USUAL = _usual()
