"""Converts memories and edges to rows and back, thousands at a time.

A page is one JSON text written by the engine, an array of arrays: the fastest way to read many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import msgspec

from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.link import bound
from soulmem.adapters.surreal.rows import EDGES, Row, Table, instant
from soulmem.domain.calendar import EPOCH, MICROSECOND
from soulmem.domain.dialogue import Version
from soulmem.domain.edges import Edge, EdgePage
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId, SoulId
from soulmem.domain.memories import (
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Place,
    Timelines,
)
from soulmem.domain.situation import (
    ConceptDetail,
    ConceptType,
    Emotion,
    Participant,
    ParticipantKind,
    Situation,
    TimeSpan,
)
from soulmem.domain.terms import Term

_PAGE = 2000  # rows
_NO_SITUATION = Situation()
_MAX_SHARED = 1 << 14  # moments, terms and sets of participants shared among memories

# Enum members by value: a dictionary is five times as fast as a call.
_KINDS = {member.value: member for member in MemoryKind}
_ORIGINS = {member.value: member for member in Origin}
_TIMELINES = {member.value: member for member in Timelines}
_STATES = {member.value: member for member in MemoryState}


def memory_row(owner: Owner, memory: Memory) -> Row:
    place, concept = memory.place, memory.concept
    return {
        "id": [owner, memory.id],
        "owner": owner,
        "soul": memory.soul,
        "key": memory.id,
        "kind": memory.kind.value,
        "text": memory.text,
        "origin": memory.origin.value,
        "created": memory.created,
        "tags": list(memory.tags),
        "importance": float(memory.importance),
        "permanent": memory.permanent,
        "locked": memory.locked,
        "timelines": memory.timelines.value,
        "state": memory.state.value,
        "revision": memory.revision,
        "evidence": [_version_rows(versions) for versions in memory.evidence],
        "place": {"chat": place.chat, "slot": place.slot} if place else None,
        "situation": _situation_row(memory.situation),
        "concept": {
            "type": concept.concept_type.value,
            "aliases": list(concept.aliases),
            "description": concept.description,
        }
        if concept
        else None,
        "terms": _json(list(chain.from_iterable(memory.terms))),
        "names": _json(memory.names),
        **_rare_fields(memory),
    }


def _rare_fields(memory: Memory) -> Row:
    """The fields of the few memories that are merged, were separated, brought back or given an importance."""
    fields = {
        "merged_into": memory.merged_into,
        "kept_apart": memory.kept_apart,
        "brought_back": memory.brought_back,
        "importance_given": memory.importance_given,
    }
    return {name: value for name, value in fields.items() if value}


def _version_rows(versions: Iterable[Version]) -> list[list[str]]:
    return [[version.slot, version.hash] for version in versions]


def _json(values: Sequence[object]) -> str | None:
    return msgspec.json.encode(values).decode() if values else None


_People = tuple[tuple[str, str, tuple[Emotion, ...]], ...]  # name, kind, feelings


class Memories:
    """Converts rows to memories. Equal parts of memories become one shared object."""

    def __init__(self) -> None:
        self._moments: dict[str, datetime] = {}
        self._keys: dict[str, str] = {}  # of terms
        self._participants: dict[_People, tuple[Participant, ...]] = {}

    def page(self, text: str) -> list[Memory]:
        """The memories of a page."""
        return [self._memory(row) for row in msgspec.json.decode(text, type=list[list[Any]])]

    def _memory(self, row: list[Any]) -> Memory:
        (
            key,
            soul,
            kind,
            text,
            origin,
            created,
            tags,
            importance,
            permanent,
            locked,
            *more,
        ) = row
        (
            timelines,
            state,
            revision,
            evidence,
            place,
            situation,
            concept,
            terms,
            names,
            merged_into,
            kept_apart,
            brought_back,
            importance_given,
        ) = more
        return Memory(
            id=MemoryId(key),
            soul=SoulId(soul),
            kind=_KINDS[kind],
            text=text,
            origin=_ORIGINS[origin],
            created=self._instant(created),
            tags=tuple(tags),
            importance=importance,
            permanent=permanent,
            locked=locked,
            timelines=_TIMELINES[timelines],
            state=_STATES[state],
            revision=revision,
            evidence=tuple([_versions(pairs) for pairs in evidence]),
            place=Place(ChatId(place["chat"]), SlotId(place["slot"])) if place else None,
            situation=self._situation(situation) if situation else _NO_SITUATION,
            concept=ConceptDetail(
                ConceptType(concept["type"]),
                tuple(concept["aliases"]),
                concept.get("description"),
            )
            if concept
            else None,
            terms=self._terms(terms) if terms else (),
            names=tuple(msgspec.json.decode(names, type=list[str])) if names else (),
            merged_into=MemoryId(merged_into) if merged_into else None,
            kept_apart=bool(kept_apart),
            brought_back=bool(brought_back),
            importance_given=bool(importance_given),
        )

    def _terms(self, text: str) -> tuple[Term, ...]:
        values = msgspec.json.decode(text)
        keys = self._keys
        if len(keys) > _MAX_SHARED:
            keys.clear()
        return tuple(
            [Term(keys.setdefault(k, k), s) for k, s in zip(values[::2], values[1::2], strict=True)]
        )

    def _situation(self, row: Row) -> Situation:
        span = row.get("time_span")
        return Situation(
            time_span=TimeSpan(
                self._moment(span.get("start")),
                self._moment(span.get("end")),
                span.get("story"),
            )
            if span
            else None,
            location=row.get("location"),
            participants=self._participants_of(row["participants"]),
            emotions=_feelings(row["emotions"]),
            sensations=tuple(row["sensations"]),
            situation=row.get("situation"),
            period=row.get("period"),
        )

    def _participants_of(self, rows: Sequence[Row]) -> tuple[Participant, ...]:
        key = tuple([(row["name"], row["kind"], _feelings(row.get("feels") or ())) for row in rows])
        participants = self._participants.get(key)
        if participants is None:
            participants = tuple(
                [Participant(name, ParticipantKind(kind), feels) for name, kind, feels in key]
            )
            if len(self._participants) < _MAX_SHARED:
                self._participants[key] = participants
        return participants

    def _moment(self, text: str | None) -> datetime | None:
        return None if text is None else self._instant(text)

    def _instant(self, text: str) -> datetime:
        parsed = self._moments.get(text)
        if parsed is None:
            if len(self._moments) == _MAX_SHARED:
                self._moments.clear()  # equal moments are mostly close together
            parsed = self._moments[text] = instant(text)
        return parsed


def _versions(pairs: Iterable[tuple[str, str]]) -> tuple[Version, ...]:
    return tuple([Version(SlotId(slot), digest) for slot, digest in pairs])


def _feelings(rows: Sequence[Row]) -> tuple[Emotion, ...]:
    return tuple([Emotion(row["label"], row["intensity"]) for row in rows])


def _feeling_rows(feelings: Sequence[Emotion]) -> list[Row]:
    return [{"label": feeling.label, "intensity": float(feeling.intensity)} for feeling in feelings]


def _participant_row(participant: Participant) -> Row:
    row: Row = {"name": participant.name, "kind": participant.kind.value}
    return {**row, "feels": _feeling_rows(participant.feels)} if participant.feels else row


def _situation_row(situation: Situation) -> Row | None:
    if situation == Situation():
        return None
    span = situation.time_span
    period = {} if situation.period is None else {"period": situation.period}
    return period | {
        "time_span": {"start": span.start, "end": span.end, "story": span.story} if span else None,
        "location": situation.location,
        "participants": [_participant_row(participant) for participant in situation.participants],
        "emotions": _feeling_rows(situation.emotions),
        "sensations": list(situation.sensations),
        "situation": situation.situation,
    }


def edge_row(owner: Owner, edge: Edge) -> Row:
    key = edge.id
    return {
        "id": [owner, key],
        "in": [owner, edge.source],
        "out": [owner, edge.target],
        "content": {
            "owner": owner,
            "soul": edge.soul,
            "key": key,
            "kind": edge.kind.value,
            "origin": edge.origin.value,
            "touched": edge.touched,
            "strength": float(edge.strength),
            "confidence": float(edge.confidence),
            "stability": float(edge.stability),
            "uses": edge.uses,
            "verb": edge.verb,
            "probability": None if edge.probability is None else float(edge.probability),
            "at_turn": None if edge.at_turn is None else float(edge.at_turn),
            "made": edge.made,
        },
    }


def edge_page(lines: str) -> EdgePage:
    """The edges of a page as columns."""
    rows = msgspec.json.decode(lines, type=list[list[Any]])
    names = ("id", *EDGES.fields, "source", "target")
    columns: dict[str, list[Any]] = {}
    for index, name in enumerate(names):
        columns[name] = [row[index] for row in rows]
    return EdgePage(
        id=columns["id"],
        source=columns["source"],
        target=columns["target"],
        kind=columns["kind"],
        origin=columns["origin"],
        touched=[_microseconds(text) for text in columns["touched"]],
        strength=columns["strength"],
        confidence=columns["confidence"],
        stability=columns["stability"],
        uses=columns["uses"],
        verb=columns["verb"],
        probability=columns["probability"],
        at_turn=columns["at_turn"],
        made=[text and _microseconds(text) for text in columns["made"]],
    )


def _microseconds(text: str) -> int:
    return (instant(text) - EPOCH) // MICROSECOND


def edges_of(page: EdgePage, soul: SoulId) -> list[Edge]:
    """The edges of the page as values."""
    return page.edges(soul)


async def some(
    table: Table, owner: Owner, soul: SoulId, keys: Sequence[str], run: Run
) -> list[str]:
    """The soul's rows with these keys, as pages in the form of `Table.array`."""
    ids = f"$keys.map(|$key| type::record('{table.name}', [$owner, $key]))"
    which = f"SELECT VALUE {table.array} FROM {ids} WHERE key != NONE AND soul = $soul"
    sql = f"RETURN encoding::json::encode(({which}));"
    texts: list[str] = []
    for start in range(0, len(keys), _PAGE):
        some_keys = list(keys[start : start + _PAGE])
        (text,) = await run(bound(sql, owner=owner, soul=soul, keys=some_keys))
        texts.append(str(text))
    return texts
