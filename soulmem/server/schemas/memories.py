"""What may be asked about memories: made, changed and listed by the user's hand."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState, Timelines
from soulmem.engine.api.requests import (
    MemoryFilter,
    MemoryPatch,
    NewEdge,
    NewMemory,
    TagMatch,
)
from soulmem.server.schemas.common import (
    Body,
    Cursor,
    Id,
    PageLimit,
    Prose,
    Query,
    Share,
    Tags,
    Words,
)
from soulmem.server.schemas.fields import (
    FieldsBody,
    concept_of,
    refuse_foreign_fields,
    situation_of,
)


class EdgeBody(Body, frozen=True):
    """An edge of the memory: to `to`, or from `from`; exactly one of the two."""

    kind: EdgeKind
    to: Id | None = None
    source: Id | None = field(name="from", default=None)
    strength: Share | None = None
    verb: Words | None = None
    confidence: Share | None = None
    probability: Share | None = None


Edges = Annotated[list[EdgeBody], Meta(max_length=1_000)]


class NewMemoryBody(Body, frozen=True):
    """A memory made by the user's hand."""

    soul: Id
    kind: MemoryKind
    text: Prose
    tags: Tags = field(default_factory=list)
    importance: Share | None = None
    permanent: bool = False
    locked: bool = False
    timelines: Timelines | None = None
    chat: Id | None = None
    slot: Id | None = None
    fields: FieldsBody | None = None
    edges: Edges = field(default_factory=list)


class PatchBody(Body, frozen=True):
    """What to change; a field left out stays, among `fields` too. `edges` are added, or change those of the
    same ends, kind and verb.
    """

    text: Prose | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    importance: Share | UnsetType = UNSET
    permanent: bool | UnsetType = UNSET
    locked: bool | UnsetType = UNSET
    timelines: Timelines | UnsetType = UNSET
    chat: Id | UnsetType = UNSET
    slot: Id | UnsetType = UNSET
    fields: FieldsBody | UnsetType = UNSET
    edges: Edges | UnsetType = UNSET
    in_doubt: bool | UnsetType = UNSET
    revision: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None


class MemoriesQuery(Query, frozen=True):
    """Which memories to list."""

    soul: Id
    kind: MemoryKind | None = None
    q: Words | None = None
    tag: Words | None = None
    match: TagMatch = TagMatch.LADDER
    permanent: bool | None = None
    state: MemoryState = MemoryState.ACTIVE
    limit: PageLimit = 100
    cursor: Cursor | None = None


def new_memory(body: NewMemoryBody) -> NewMemory:
    """The engine's request. Raises Unprocessable where fields do not belong together."""
    timelines = body.timelines or Timelines.ALL
    _check_place(timelines, body.chat, body.slot)
    refuse_foreign_fields(body.fields, body.kind)
    fields = body.fields or FieldsBody()
    return NewMemory(
        soul=SoulId(body.soul),
        kind=body.kind,
        text=body.text,
        tags=tuple(body.tags),
        importance=body.importance,
        permanent=body.permanent,
        locked=body.locked,
        timelines=timelines,
        chat=ChatId(body.chat) if body.chat else None,
        slot=SlotId(body.slot) if body.slot else None,
        situation=situation_of(fields),
        concept=concept_of(fields) if body.kind is MemoryKind.CONCEPT else None,
        edges=_edges(body.edges),
    )


def memory_patch(body: PatchBody) -> MemoryPatch:
    """The engine's request. Which fields suit the memory's kind only the engine can know."""
    fields = None if body.fields is UNSET else body.fields
    episode = fields is not None and fields.tells_episode
    concept = fields is not None and fields.tells_concept
    if episode and concept:
        raise Unprocessable(
            "fields of an episode and of a concept together: send those of this memory's kind only",
            field="fields",
        )
    if body.slot is not UNSET and body.chat is UNSET:
        raise Unprocessable(
            f"slot {body.slot!r} alone names no place: send `chat` too", field="slot"
        )
    return MemoryPatch(
        text=None if body.text is UNSET else body.text,
        tags=None if body.tags is UNSET else tuple(body.tags),
        importance=None if body.importance is UNSET else body.importance,
        permanent=None if body.permanent is UNSET else body.permanent,
        locked=None if body.locked is UNSET else body.locked,
        timelines=None if body.timelines is UNSET else body.timelines,
        chat=None if body.chat is UNSET else ChatId(body.chat),
        slot=None if body.slot is UNSET else SlotId(body.slot),
        situation=situation_of(fields) if fields is not None and episode else None,
        concept=concept_of(fields) if fields is not None and concept else None,
        fields=fields.sent if fields is not None and (episode or concept) else None,
        edges=None if body.edges is UNSET else _edges(body.edges),
        in_doubt=None if body.in_doubt is UNSET else body.in_doubt,
        revision=body.revision,
    )


def memory_filter(query: MemoriesQuery) -> MemoryFilter:
    """The engine's request; an empty word filters nothing."""
    return MemoryFilter(
        soul=SoulId(query.soul),
        kind=query.kind,
        q=query.q or None,
        tag=query.tag or None,
        match=query.match,
        permanent=query.permanent,
        state=query.state,
        limit=query.limit,
        cursor=query.cursor,
    )


def _check_place(timelines: Timelines, chat: str | None, slot: str | None) -> None:
    if timelines is Timelines.THIS and chat is None:
        raise Unprocessable(
            'timelines "this" needs `chat`: name the chat it belongs to', field="chat"
        )
    if slot is not None and chat is None:
        raise Unprocessable(
            f"slot {slot!r} alone names no place: send `chat` too", field="slot"
        )


def _edges(edges: list[EdgeBody]) -> tuple[NewEdge, ...]:
    return tuple(_edge(edge, i) for i, edge in enumerate(edges))


def _edge(edge: EdgeBody, index: int) -> NewEdge:
    if (edge.to is None) == (edge.source is None):
        raise Unprocessable(
            "an edge runs to one memory or from one: give exactly one of `to` and `from`",
            field=f"edges[{index}].to",
        )
    return NewEdge(
        kind=edge.kind,
        to=MemoryId(edge.to) if edge.to else None,
        source=MemoryId(edge.source) if edge.source else None,
        strength=edge.strength,
        verb=edge.verb,
        confidence=edge.confidence,
        probability=edge.probability,
    )
