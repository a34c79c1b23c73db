"""Writes and reads bundles: one soul as a file of JSON lines.

The lines are: a head, the soul, each chat with its messages, memories, edges, usages and recalls, opinions,
fading, derivations, and an end with the count of lines before it. Vectors are left out, as they are made again
from the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from math import isfinite
from operator import is_
from typing import Any

import msgspec

from soulmem.domain.calendar import FIRST, LAST, bounded
from soulmem.domain.derivations import Derivation
from soulmem.domain.dialogue import Chat, Message, text_hash
from soulmem.domain.edges import Edge
from soulmem.domain.errors import SoulMemError, Unprocessable
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.foreign_json import sound_json
from soulmem.domain.ids import ChatId, MemoryId, SoulId, check_id
from soulmem.domain.memories import DERIVED, Memory, MemoryState
from soulmem.domain.opinions import Opinion
from soulmem.domain.phrases import phrase
from soulmem.domain.soul import Soul
from soulmem.domain.usage import RecallRecord, Usage

VERSION = 1  # of the format; a reader refuses a higher one
_MOST_BROKEN = 20  # broken lines that are listed
_TIMELESS = {type(None), str, int, float, bool}
_known_fields: dict[type[Any], tuple[str, ...]] = {}
# Characters that some readers take for line ends; in JSON they occur only inside texts.
_SEPARATORS = {c.encode(): b"\\u%04x" % ord(c) for c in "\x85\u2028\u2029"}


class Head(msgspec.Struct, frozen=True, tag="bundle", tag_field="type"):
    """The first line: format version, soul, time, and the SoulMem that wrote it."""

    version: int
    soul: SoulId
    made: datetime
    soulmem: str = ""  # the version that wrote it


class SoulLine(msgspec.Struct, frozen=True, tag="soul", tag_field="type"):
    """The soul with its settings and known names."""

    soul: Soul


class ChatLine(msgspec.Struct, frozen=True, tag="chat", tag_field="type"):
    """A chat; its messages follow."""

    chat: Chat


class MessageLine(msgspec.Struct, frozen=True, tag="message", tag_field="type"):
    """A message of a chat, in order."""

    chat: ChatId
    message: Message


class MemoryLine(msgspec.Struct, frozen=True, tag="memory", tag_field="type"):
    """A memory of any origin, also in the bin."""

    memory: Memory


class EdgeLine(msgspec.Struct, frozen=True, tag="edge", tag_field="type"):
    """An edge between two memories."""

    edge: Edge


class UsageLine(msgspec.Struct, frozen=True, tag="usage", tag_field="type"):
    """The recalls of a memory, by number and time."""

    usage: Usage


class RecallLine(msgspec.Struct, frozen=True, tag="recall", tag_field="type"):
    """A recall whose reply was kept."""

    recall: RecallRecord


class OpinionLine(msgspec.Struct, frozen=True, tag="opinion", tag_field="type"):
    """The user's opinion of a memory."""

    opinion: Opinion


class FadingLine(msgspec.Struct, frozen=True, tag="fading", tag_field="type"):
    """Units, anchors and rewording of a memory."""

    fading: FadingRecord


class DerivationLine(msgspec.Struct, frozen=True, tag="derivation", tag_field="type"):
    """What a language model read and which memories it made; these have lines of their own."""

    derivation: Derivation


class End(msgspec.Struct, frozen=True, tag="end", tag_field="type"):
    """The last line; without it, or with another count, the file was cut off."""

    lines: int


Learned = UsageLine | RecallLine | OpinionLine | FadingLine
Graph = MemoryLine | EdgeLine | Learned | DerivationLine
Line = Head | SoulLine | ChatLine | MessageLine | Graph | End


@dataclass(frozen=True, slots=True)
class BrokenBundleLine:
    """A line that cannot be read, counted from 1."""

    number: int
    reason: str


@dataclass(slots=True)
class Bundle:
    """The content of a file, all of one soul; `whole` is False when the file was cut off."""

    head: Head | None = None
    soul: Soul | None = None
    chats: dict[ChatId, Chat] = field(default_factory=dict)
    messages: dict[ChatId, list[Message]] = field(default_factory=dict)
    memories: dict[MemoryId, Memory] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    usages: dict[MemoryId, Usage] = field(default_factory=dict)
    recalls: dict[str, RecallRecord] = field(default_factory=dict)
    opinions: dict[MemoryId, Opinion] = field(default_factory=dict)
    fading: dict[MemoryId, FadingRecord] = field(default_factory=dict)
    derivations: dict[str, Derivation] = field(default_factory=dict)
    broken: list[BrokenBundleLine] = field(default_factory=list)
    whole: bool = False

    @property
    def owner_soul(self) -> SoulId:
        """The soul named by the head. Only for a file with a head."""
        assert self.head is not None
        return self.head.soul


def encode(lines: Iterable[Line]) -> bytes:
    """The lines as bytes, each with its line feed."""
    return b"".join(_encoded(line) + b"\n" for line in lines)


def _encoded(line: Line) -> bytes:
    data = msgspec.json.encode(line)
    for raw, escaped in _SEPARATORS.items():
        if raw in data:
            data = data.replace(raw, escaped)
    return data


def read_bundle(data: bytes) -> Bundle:
    """The bundle in `data`; broken lines are listed and skipped.

    Raises Unprocessable for a file that is no bundle, or of a newer format. Compute thread only.
    """
    bundle = Bundle()
    decoder = msgspec.json.Decoder(Line)
    for number, raw in _numbered(data):
        try:
            line = _within_calendar(decoder.decode(sound_json(raw)))
            too_new = isinstance(line, Head) and line.version > VERSION
            if not too_new:
                _take(bundle, line, number)
        except (ValueError, SoulMemError) as error:  # ValueError: also msgspec's
            if len(bundle.broken) < _MOST_BROKEN:
                reason = error.message if isinstance(error, SoulMemError) else _without_texts(error)
                bundle.broken.append(BrokenBundleLine(number, reason))
        else:
            if too_new:
                raise Unprocessable(
                    phrase(
                        "bundle_too_new",
                        "the bundle was written by a newer SoulMem than this one, which knows its"
                        " format up to {version}: update SoulMem",
                        version=VERSION,
                    ),
                    field="text",
                )
    if bundle.head is None:
        raise Unprocessable(
            phrase(
                "file_no_bundle",
                "the file is no bundle: its first line must say so; choose one that `soulmem export` wrote",
            ),
            field="text",
        )
    return bundle


def _numbered(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if raw.strip():
            yield number, raw


def _take(bundle: Bundle, line: Line, number: int) -> None:
    """Add a line to the bundle. Raises Unprocessable for one that is invalid here."""
    if isinstance(line, Head):
        check_id(line.soul, "soul")
        if bundle.head is not None:
            raise Unprocessable(phrase("bundle_second_head", "a second head: one bundle a file"))
        bundle.head = line
        return
    if bundle.head is None:
        raise Unprocessable(phrase("bundle_before_head", "it stands before the head of the bundle"))
    if isinstance(line, End):
        bundle.whole = line.lines == number - 1 and not bundle.broken
    elif isinstance(line, SoulLine):
        _check_soul(bundle, line.soul.id)
        bundle.soul = line.soul
    elif isinstance(line, ChatLine):
        _take_chat(bundle, line.chat)
    elif isinstance(line, MessageLine):
        _take_message(bundle, line)
    else:
        _take_graph(bundle, line)


def _take_chat(bundle: Bundle, chat: Chat) -> None:
    ids: list[str] = [chat.id, *chat.souls, *chat.cast]
    if chat.parent is not None:
        ids += [chat.parent.chat, chat.parent.slot]
    for id_ in ids:
        check_id(id_, "chat")
    bundle.chats[chat.id] = chat
    bundle.messages.setdefault(chat.id, [])


def _take_message(bundle: Bundle, line: MessageLine) -> None:
    message = replace(line.message, left_out=())
    check_id(message.slot, "slot")
    for soul in message.present or ():
        check_id(soul, "present")
    _storable(message.text, message.speaker, message.story or "")
    if message.hash != text_hash(message.text):
        raise Unprocessable(
            phrase(
                "bundle_text_hash",
                "the text of '{slot}' is not what its hash says",
                slot=message.slot,
            )
        )
    if line.chat not in bundle.chats:
        raise Unprocessable(
            phrase(
                "bundle_chat_later",
                "its chat '{chat}' does not come before it",
                chat=line.chat,
            )
        )
    bundle.messages[line.chat].append(message)


def _take_graph(bundle: Bundle, line: Graph) -> None:
    if isinstance(line, MemoryLine):
        _take_memory(bundle, line.memory)
    elif isinstance(line, EdgeLine):
        _take_edge(bundle, line.edge)
    elif isinstance(line, UsageLine):
        _take_usage(bundle, line.usage)
    elif isinstance(line, OpinionLine):
        _take_opinion(bundle, line.opinion)
    elif isinstance(line, FadingLine):
        _take_fading(bundle, line.fading)
    elif isinstance(line, DerivationLine):
        _take_derivation(bundle, line.derivation)
    else:
        _take_recall(bundle, line.recall)


def _with_own_state(memory: Memory) -> Memory:
    """The memory; in use and alone where its state says that it is joined and it may not be."""
    is_merged = memory.state is MemoryState.MERGED
    is_free = memory.origin in DERIVED and not (memory.permanent or memory.locked)
    if is_merged and is_free and memory.merged_into is not None:
        return memory
    state = MemoryState.ACTIVE if is_merged else memory.state
    return replace(memory, state=state, merged_into=None)


def _take_memory(bundle: Bundle, memory: Memory) -> None:
    _check_soul(bundle, memory.soul)
    check_id(memory.id, "memory")
    _storable(memory.text, *memory.tags)
    bundle.memories[memory.id] = _with_own_state(memory)


def _take_edge(bundle: Bundle, edge: Edge) -> None:
    _check_soul(bundle, edge.soul)
    if not isfinite(edge.stability) or not isfinite(edge.at_turn or 0.0):
        raise Unprocessable(phrase("bundle_edge_number", "a number of the edge is not finite"))
    bundle.edges[edge.id] = edge


def _take_usage(bundle: Bundle, usage: Usage) -> None:
    _check_soul(bundle, usage.soul)
    if not usage.stamps:
        raise Unprocessable(phrase("bundle_usage", "a usage without any moment"))
    bundle.usages[usage.memory] = usage


def _take_opinion(bundle: Bundle, opinion: Opinion) -> None:
    _check_soul(bundle, opinion.soul)
    check_id(opinion.memory, "memory")
    for chat in opinion.not_in:
        check_id(chat, "chat")
    bundle.opinions[opinion.memory] = opinion


def _take_fading(bundle: Bundle, record: FadingRecord) -> None:
    _check_soul(bundle, record.soul)
    check_id(record.memory, "memory")
    units = [unit.retention for unit in record.units]
    for state in (*units, *(anchor.retention for anchor in record.anchors)):
        if not isfinite(state.stability) or not isfinite(state.at_turn or 0.0):
            raise Unprocessable(
                phrase("bundle_fading_number", "a number of what fades is not finite")
            )
    texts = [unit.span.gist for unit in record.units]
    if record.retold is not None:
        check_id(record.retold.chat, "chat")
        check_id(record.retold.slot, "slot")
        texts.append(record.retold.text)
    _storable(record.reworded or "", *texts, *(a.text for a in record.anchors))
    bundle.fading[record.memory] = record


def _take_derivation(bundle: Bundle, derivation: Derivation) -> None:
    _check_soul(bundle, derivation.soul)
    check_id(derivation.id, "derivation")
    if not derivation.read:
        raise Unprocessable(phrase("bundle_derivation", "a derivation of nothing"))
    bundle.derivations[derivation.id] = derivation


def _take_recall(bundle: Bundle, record: RecallRecord) -> None:
    _check_soul(bundle, record.soul)
    check_id(record.trace, "trace")
    bundle.recalls[record.trace] = record


def _check_soul(bundle: Bundle, soul: SoulId) -> None:
    if soul != bundle.owner_soul:
        raise Unprocessable(
            phrase(
                "bundle_other_soul",
                "it is of another soul than '{soul}'",
                soul=bundle.owner_soul,
            )
        )


def _within_calendar(value: Any) -> Any:
    """The value with each time that it holds, or the nearest one that has a date in every zone.

    Raises Unprocessable for a time without a zone.
    """
    if type(value) in _TIMELESS:
        return value
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise Unprocessable(phrase("time_no_zone", "a time without a zone"))
        return value if FIRST <= value <= LAST else bounded(value)
    if isinstance(value, tuple | list):
        items = [_within_calendar(item) for item in value]
        return value if all(map(is_, items, value)) else type(value)(items)
    if isinstance(value, dict):
        return {key: _within_calendar(item) for key, item in value.items()}
    changes = {}
    for name in _fields(type(value)):
        old = getattr(value, name)
        new = _within_calendar(old)
        if new is not old:
            changes[name] = new
    if not changes:
        return value
    is_line = isinstance(value, msgspec.Struct)
    return (msgspec.structs.replace if is_line else replace)(value, **changes)


def _fields(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a line or of a domain value; none of what holds no times."""
    if kind not in _known_fields:
        names: tuple[str, ...] = ()
        if issubclass(kind, msgspec.Struct):
            names = kind.__struct_fields__
        elif is_dataclass(kind):
            names = tuple(f.name for f in fields(kind))
        _known_fields[kind] = names
    return _known_fields[kind]


def _storable(*texts: str) -> None:
    """Raises Unprocessable for zero characters, which the database does not store."""
    if any("\x00" in text for text in texts):
        raise Unprocessable(phrase("text_zero", "a text holds a zero character"))


def _without_texts(error: Exception) -> str:
    """The message of a decoding error; it has paths and types, but no text of the file."""
    return str(error)[:200]
