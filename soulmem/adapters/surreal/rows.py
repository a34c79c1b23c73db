"""Converts domain values to rows of the database and back.

Rows are written as objects (CBOR keeps datetimes and bytes) and read as JSON arrays made by the engine, one text
for each row: the id, then `Table.fields`. That takes a third of the time of CBOR objects.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from soulmem.domain.dialogue import (
    Chat,
    ChatState,
    Fork,
    Quarantine,
    Version,
)
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.soul import (
    KnownName,
    Soul,
    SoulSettings,
    SoulState,
)
from soulmem.domain.usage import RecallRecord, Stamp, Trail, Usage

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, the fields to read, and which part of a row's id is the domain's id."""

    name: str
    fields: tuple[str, ...]
    key: int = 1
    relation: bool = False  # rows end with the keys of both ends

    def put(self, rows: str) -> str:
        """The statement that stores the rows bound to `rows` and replaces existing ones.

        It is a loop, because INSERT .. ON DUPLICATE KEY takes a savepoint for each row, which is slow.
        """
        row = f"type::record('{self.name}', $row.id)"
        if not self.relation:
            return f"FOR $row IN ${rows} {{ UPSERT {row} CONTENT $row RETURN NONE }};"
        ends = "LET $in = type::record('memory', $row.in); LET $out = type::record('memory', $row.out);"
        relate = "RELATE $in->$id->$out CONTENT $row.content RETURN NONE"
        return f"FOR $row IN ${rows} {{ LET $id = {row}; {ends} {relate} }};"

    @property
    def line(self) -> str:
        """The expression that gives a row as a JSON text."""
        return f"encoding::json::encode({self.array})"

    @property
    def array(self) -> str:
        """The expression that gives a row as an array."""
        ends = ("record::id(in)[1]", "record::id(out)[1]") if self.relation else ()
        return f"[{', '.join((f'record::id(id)[{self.key}]', *self.fields, *ends))}]"


SOULS = Table("soul", ("name", "names", "settings", "state", "created"))
CHATS = Table(
    "chat",
    (
        "souls",
        "cast",
        "title",
        "persona",
        "parent",
        "settled_tail",
        "tail_since",
        "hold",
        "state",
        "created",
    ),
)
MEMORIES = Table(
    "memory",
    (
        *(
            "soul",
            "kind",
            "text",
            "origin",
            "created",
            "tags",
            "importance",
            "permanent",
            "locked",
        ),
        *(
            "timelines",
            "state",
            "revision",
            "evidence",
            "place",
            "situation",
            "concept",
        ),
        *("terms", "names", "merged_into", "kept_apart", "brought_back"),
        "importance_given",
    ),
)
EDGES = Table(
    "edge",
    (
        *(
            "soul",
            "kind",
            "origin",
            "touched",
            "strength",
            "confidence",
            "stability",
            "uses",
        ),
        *("verb", "probability", "at_turn", "made"),
    ),
    relation=True,
)
VECTORS = Table("vector", ("data",))
SHELF = Table("shelf", ("data",), key=2)  # read as objects, for the bytes
IMAGES = Table("image", ("token",))
IMAGE_CHANGES = Table("image_change", ("put", "dropped", "edges", "chats"))
USAGES = Table("usage", ("soul", "count", "first", "first_turn", "stamps", "turns"))
EDGE_VECTORS = Table("edge_vector", ("source",))  # read as objects, for the bytes
RECALLS = Table("recall", ("soul", "chat", "slot", "swipe", "at", "turn", "trails"))


def soul_row(owner: Owner, soul: Soul) -> Row:
    return {
        "id": [owner, soul.id],
        "name": soul.name,
        "names": [
            {
                "name": known_name.name,
                "aliases": list(known_name.aliases),
                "source": known_name.source,
            }
            for known_name in soul.names
        ],
        "settings": msgspec.to_builtins(soul.settings),
        "state": soul.state.value,
        "created": soul.created,
    }


def soul_of(line: str) -> Soul:
    key, name, names, settings, state, created = json.loads(line)
    if not name and state == SoulState.ACTIVE.value:  # of one that was purged
        raise ValueError("an active soul without a name")
    return Soul(
        id=SoulId(key),
        name=name,
        names=tuple(KnownName(row["name"], tuple(row["aliases"]), row["source"]) for row in names),
        settings=msgspec.convert(settings, SoulSettings),
        state=SoulState(state),
        created=moment(created),
    )


def chat_row(owner: Owner, chat: Chat) -> Row:
    parent, tail, hold = chat.parent, chat.settled_tail, chat.quarantine
    return {
        "id": [owner, chat.id],
        "souls": list(chat.souls),
        "cast": list(chat.cast),
        "title": chat.title,
        "persona": chat.persona,
        "parent": {"chat": parent.chat, "slot": parent.slot} if parent else None,
        "settled_tail": {"slot": tail.slot, "hash": tail.hash} if tail else None,
        "tail_since": chat.tail_since,
        "hold": {"vanished": sorted(hold.vanished)} if hold else None,
        "state": chat.state.value,
        "created": chat.created,
    }


def chat_of(line: str) -> Chat:
    key, souls, cast, title, persona, parent, tail, since, hold, state, created = json.loads(line)
    return Chat(
        id=ChatId(key),
        souls=tuple(SoulId(soul) for soul in souls),
        cast=tuple(SoulId(soul) for soul in cast),
        title=title,
        persona=persona,
        parent=Fork(ChatId(parent["chat"]), SlotId(parent["slot"])) if parent else None,
        settled_tail=Version(SlotId(tail["slot"]), tail["hash"]) if tail else None,
        tail_since=moment(since),
        quarantine=Quarantine(frozenset(SlotId(slot) for slot in hold["vanished"]))
        if hold
        else None,
        state=ChatState(state),
        created=moment(created),
    )


def usage_row(owner: Owner, usage: Usage) -> Row:
    return {
        "id": [owner, usage.memory],
        "owner": owner,
        "soul": usage.soul,
        "key": usage.memory,
        "count": usage.count,
        "first": usage.first.moment,
        "first_turn": usage.first.turn,
        "stamps": [stamp.moment for stamp in usage.stamps],
        "turns": [stamp.turn for stamp in usage.stamps],
    }


def usage_of(line: str) -> Usage:
    key, soul, count, first, first_turn, stamps, turns = json.loads(line)
    return Usage(
        memory=MemoryId(key),
        soul=SoulId(soul),
        count=count,
        first=Stamp(instant(first), first_turn),
        stamps=tuple(
            Stamp(instant(stamp), turn) for stamp, turn in zip(stamps, turns, strict=True)
        ),
    )


def recall_row(owner: Owner, record: RecallRecord) -> Row:
    return {
        "id": [owner, record.trace],
        "owner": owner,
        "soul": record.soul,
        "key": record.trace,
        "chat": record.chat,
        "slot": record.slot,
        "swipe": record.swipe,
        "at": record.stamp.moment,
        "turn": record.stamp.turn,
        "trails": [[trail.memory, list(trail.via), list(trail.edges)] for trail in record.trails],
    }


def recall_of(line: str) -> RecallRecord:
    trace, soul, chat, slot, swipe, moment_text, turn, trails = json.loads(line)
    return RecallRecord(
        trace=trace,
        soul=SoulId(soul),
        chat=ChatId(chat),
        slot=SlotId(slot),
        swipe=swipe,
        stamp=Stamp(instant(moment_text), turn),
        trails=tuple(
            Trail(MemoryId(memory), tuple(map(MemoryId, via)), tuple(edges))
            for memory, via, edges in trails
        ),
    )


def edge_vector_row(owner: Owner, vector: EdgeVector) -> Row:
    return {
        "id": [owner, vector.edge],
        "owner": owner,
        "soul": vector.soul,
        "key": vector.edge,
        "source": vector.source,
        "target": vector.target,
        "model": vector.model,
        "weight": float(vector.weight),
        "turn": float(vector.turn),
        "data": vector.data,
    }


def edge_vector_of(row: Row) -> EdgeVector:
    return EdgeVector(
        soul=SoulId(row["soul"]),
        edge=row["key"],
        source=MemoryId(row["source"]),
        target=MemoryId(row["target"]),
        model=row["model"],
        weight=row["weight"],
        turn=row["turn"],
        data=row["data"],
    )


def moment(text: str | None) -> datetime | None:
    """The moment in ISO 8601 and UTC, as the engine writes it; None stays None."""
    return None if text is None else instant(text)


def instant(text: str) -> datetime:
    """The moment in ISO 8601 and UTC, as the engine writes it. Python 3.10 cannot parse a final Z."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
