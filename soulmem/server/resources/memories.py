"""Routes of memories: create, list, read, change, delete, restore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.calendar import within_calendar
from soulmem.domain.digests import Period
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState, Timelines
from soulmem.domain.micro_units import AnchorKind
from soulmem.engine.api.requests import (
    ListOrder,
    MemoryFilter,
    MemoryPatch,
    NewAnchor,
    NewEdge,
    NewMemory,
    NewUnit,
    Part,
    TagMatch,
)
from soulmem.engine.api.results import MemoryView
from soulmem.server.common_types import (
    Body,
    Confirm,
    Count,
    Cursor,
    Done,
    Id,
    NoBody,
    NoQuery,
    PageLimit,
    Prose,
    Query,
    Share,
    Tags,
    Time,
    Words,
)
from soulmem.server.kind_fields import (
    FieldsBody,
    concept_of,
    refuse_foreign_fields,
    situation_of,
)
from soulmem.server.replies import Reply
from soulmem.server.resources.memory_responses import (
    MemoriesResponse,
    MemoryResponse,
    memories_response,
    memory_response,
)
from soulmem.server.routes import Call, route

_T = TypeVar("_T")
_R = TypeVar("_R")


class EdgeBody(Body, frozen=True):
    """An edge of the memory, either to `to` or from `from`."""

    kind: EdgeKind
    to: Id | None = None
    source: Id | None = field(name="from", default=None)
    strength: Share | None = None
    verb: Words | None = None
    confidence: Share | None = None
    probability: Share | None = None


class UnitBody(Body, frozen=True):
    """A part of the text that fades as one. Without `start` and `end` it is where `text` stands first."""

    text: Prose = ""
    gist: Words = ""
    visibility: Share | None = None
    start: Count | None = None
    end: Count | None = None


class AnchorBody(Body, frozen=True):
    """Words of the text that outlast what stands around them."""

    text: Annotated[str, Meta(min_length=1, max_length=2_000)]
    kind: AnchorKind = AnchorKind.SPONTANEOUS
    visibility: Share | None = None


ListedKind = Literal[
    "episode",
    "abstract_episode",
    "concept",
    "trigger",
    "action",
    "note",
    "summary",
    "digest",
    "fact",
]
Units = Annotated[list[UnitBody], Meta(max_length=1_000)]
Anchors = Annotated[list[AnchorBody], Meta(max_length=1_000)]
Edges = Annotated[list[EdgeBody], Meta(max_length=1_000)]


class NewMemoryBody(Body, frozen=True):
    """A memory that the user creates."""

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
    units: Units | None = None
    anchors: Anchors | None = None


class PatchBody(Body, frozen=True):
    """What to change. Fields that are left out stay, also within `fields`. `edges` are added, or replace those
    with the same ends, kind and verb. `units` and `anchors` replace all others; without any unit the computed
    ones come back.
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
    units: Units | UnsetType = UNSET
    anchors: Anchors | UnsetType = UNSET
    revision: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None


class MemoriesQuery(Query, frozen=True):
    """Selects the memories to list, or the facts."""

    soul: Id
    kind: ListedKind | None = None
    period: Annotated[Period | None, Meta(description="of digests")] = None
    q: Words | None = None
    tag: Words | None = None
    match: TagMatch = TagMatch.LADDER
    permanent: bool | None = None
    state: MemoryState = MemoryState.ACTIVE
    chat: Annotated[Id | None, Meta(description="what it tells")] = None
    about: Annotated[Id | None, Meta(description="the concept of a person")] = None
    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)
    texts: bool = False  # without concepts and habits
    sort: ListOrder = ListOrder.NEWEST
    limit: PageLimit = 100
    cursor: Cursor | None = None
    reads: bool = False  # each also as it reads now


class DensityQuery(Query, frozen=True):
    """Selects memories as a list does, and into how many equal shares and which periods their time is cut."""

    soul: Id
    kind: MemoryKind | None = None
    permanent: bool | None = None
    chat: Id | None = None
    about: Id | None = None
    texts: bool = False
    bins: Annotated[int, Meta(ge=1, le=500)] = 60
    by: Literal["day", "week", "month"] | None = None


def new_memory(body: NewMemoryBody) -> NewMemory:
    """The engine's request. Raises Unprocessable if fields do not belong together."""
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
        units=_units(body.units) if body.units is not None else None,
        anchors=_anchors(body.anchors) if body.anchors is not None else None,
    )


def memory_patch(body: PatchBody) -> MemoryPatch:
    """The engine's request. The engine checks that the fields suit the memory's kind."""
    fields = FieldsBody() if body.fields is UNSET else body.fields
    if fields.has_episode_fields and fields.has_concept_fields:
        raise Unprocessable(
            "`fields` mixes those of an episode and of a concept: send only those of this memory's kind",
            field="fields",
        )
    if body.slot is not UNSET and body.chat is UNSET:
        raise Unprocessable(f"slot {body.slot!r} needs its chat: send `chat`, too", field="slot")
    return MemoryPatch(
        text=_sent(body.text),
        tags=_converted(body.tags, tuple),
        importance=_sent(body.importance),
        permanent=_sent(body.permanent),
        locked=_sent(body.locked),
        timelines=_sent(body.timelines),
        chat=_converted(body.chat, ChatId),
        slot=_converted(body.slot, SlotId),
        situation=situation_of(fields) if fields.has_episode_fields else None,
        concept=concept_of(fields) if fields.has_concept_fields else None,
        fields=fields.sent or None,
        edges=_converted(body.edges, _edges),
        in_doubt=_sent(body.in_doubt),
        units=_converted(body.units, _units),
        anchors=_converted(body.anchors, _anchors),
        revision=body.revision,
    )


def _sent(value: _T | UnsetType) -> _T | None:
    """The value, or None if it was not sent."""
    return None if isinstance(value, UnsetType) else value


def _converted(value: _T | UnsetType, convert: Callable[[_T], _R]) -> _R | None:
    """The converted value, or None if it was not sent."""
    return None if isinstance(value, UnsetType) else convert(value)


def memory_filter(query: MemoriesQuery) -> MemoryFilter:
    """The engine's request; an empty text does not filter."""
    return MemoryFilter(
        soul=SoulId(query.soul),
        kind=None if query.kind in (None, "fact") else MemoryKind(query.kind),
        only_facts=query.kind == "fact",
        period=query.period,
        q=query.q or None,
        tag=query.tag or None,
        match=query.match,
        permanent=query.permanent,
        state=query.state,
        part=_part(query),
        order=query.sort,
        limit=query.limit,
        cursor=query.cursor,
    )


def density_filter(query: DensityQuery) -> MemoryFilter:
    """The engine's request."""
    part = Part(_chat(query.chat), _concept(query.about), only_texts=query.texts)
    return MemoryFilter(SoulId(query.soul), query.kind, permanent=query.permanent, part=part)


def _part(query: MemoriesQuery) -> Part:
    start, end = within_calendar(query.start), within_calendar(query.end)
    if start and end and end <= start:
        raise Unprocessable(
            f"the span ends at {end.isoformat()}, not after {start.isoformat()}: swap them",
            field="to",
        )
    chat, about = _chat(query.chat), _concept(query.about)
    return Part(chat, about, start, end, query.texts)


def _chat(key: str | None) -> ChatId | None:
    return None if key is None else ChatId(key)


def _concept(key: str | None) -> MemoryId | None:
    return None if key is None else MemoryId(key)


def _check_place(timelines: Timelines, chat: str | None, slot: str | None) -> None:
    if timelines is Timelines.THIS and chat is None:
        raise Unprocessable('timelines "this" needs a chat: send `chat`, too', field="chat")
    if slot is not None and chat is None:
        raise Unprocessable(f"slot {slot!r} needs its chat: send `chat`, too", field="slot")


def _units(units: list[UnitBody]) -> tuple[NewUnit, ...]:
    for index, unit in enumerate(units):
        if not unit.text and (unit.start is None or unit.end is None):
            raise Unprocessable(
                "a unit needs its text, or its start and end: send the words that fade as one",
                field=f"units[{index}].text",
            )
    return tuple(NewUnit(u.text, u.start, u.end, u.gist, u.visibility) for u in units)


def _anchors(anchors: list[AnchorBody]) -> tuple[NewAnchor, ...]:
    return tuple(NewAnchor(a.text, a.kind, a.visibility) for a in anchors)


def _edges(edges: list[EdgeBody]) -> tuple[NewEdge, ...]:
    return tuple(_edge(edge, i) for i, edge in enumerate(edges))


def _edge(edge: EdgeBody, index: int) -> NewEdge:
    if (edge.to is None) == (edge.source is None):
        raise Unprocessable(
            "an edge leads either to a memory or from one: send either `to` or `from`",
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


@route(
    "POST",
    "/v1/memories",
    query=NoQuery,
    body=NewMemoryBody,
    response=MemoryResponse,
    statuses=(201,),
)
async def create_memory(call: Call[NoQuery, NewMemoryBody]) -> Reply[MemoryResponse]:
    """Create a memory on behalf of the user."""
    new = await call.convert(lambda: new_memory(call.body))
    return _full_reply(await call.engine.memories.create(call.owner, new), status=201)


@route("GET", "/v1/memories", query=MemoriesQuery, body=None, response=MemoriesResponse)
async def list_memories(call: Call[MemoriesQuery, NoBody]) -> Reply[MemoriesResponse]:
    """A soul's memories or facts by filter and search text, page by page."""
    wanted = memory_filter(call.query)
    page = await call.engine.memories.list(call.owner, wanted)
    if call.query.reads and not wanted.only_facts:
        page = await call.engine.overviews.as_read(call.owner, SoulId(call.query.soul), page)
    return Reply(lambda: memories_response(page), rows=len(page.memories))


@route("GET", "/v1/memories/{memory}", query=NoQuery, body=None, response=MemoryResponse)
async def get_memory(call: Call[NoQuery, NoBody]) -> Reply[MemoryResponse]:
    """A memory with everything that belongs to it. Reading does not strengthen it."""
    return _full_reply(await call.engine.memories.get(call.owner, MemoryId(call.ids["memory"])))


@route(
    "PATCH",
    "/v1/memories/{memory}",
    query=NoQuery,
    body=PatchBody,
    response=MemoryResponse,
)
async def patch_memory(call: Call[NoQuery, PatchBody]) -> Reply[MemoryResponse]:
    """Change a memory on behalf of the user. 409 if `revision` is out of date."""
    patch = await call.convert(lambda: memory_patch(call.body))
    return _full_reply(
        await call.engine.memories.patch(call.owner, MemoryId(call.ids["memory"]), patch)
    )


@route("DELETE", "/v1/memories/{memory}", query=Confirm, body=None, response=Done)
async def delete_memory(call: Call[Confirm, NoBody]) -> Reply[Done]:
    """Move a memory to the bin (a permanent one needs confirm=permanent), or erase it with confirm=purge."""
    await call.engine.memories.delete(call.owner, MemoryId(call.ids["memory"]), call.query.confirm)
    return Reply(Done)


@route(
    "POST",
    "/v1/memories/{memory}/restore",
    query=NoQuery,
    body=NoBody,
    response=MemoryResponse,
)
async def restore_memory(call: Call[NoQuery, NoBody]) -> Reply[MemoryResponse]:
    """Restore a memory from the bin."""
    return _full_reply(await call.engine.memories.restore(call.owner, MemoryId(call.ids["memory"])))


def _full_reply(view: MemoryView, status: int = 200) -> Reply[MemoryResponse]:
    parts = len(view.units) + len(view.anchors)
    rows = parts + len(view.edges) + len(view.sources) + len(view.memory.evidence)
    return Reply(lambda: memory_response(view), rows=rows, status=status)


ROUTES = (
    create_memory,
    list_memories,
    get_memory,
    patch_memory,
    delete_memory,
    restore_memory,
)
