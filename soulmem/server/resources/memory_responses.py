"""Responses of memories: in lists, with all details, on the timeline, as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType, field

from soulmem.consolidation.validity import FactValidity
from soulmem.domain.dialogue import Version
from soulmem.domain.edges import Edge
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.domain.micro_units import Anchor, MicroUnit
from soulmem.domain.story_text import LeftOut
from soulmem.domain.usage import Usage
from soulmem.engine.api.results import GraphView, MemoryView, Page
from soulmem.server.common_types import (
    ResponseBody,
    SourceResponse,
    sources_response,
)
from soulmem.server.kind_fields import ShownFields, fields_of


class MemoryFields(ResponseBody, frozen=True):
    """What every response of a memory has.

    It unites `told` tellings of one event; `merged_into` is the memory that unites this one. `confidence`
    (0..1) is how far the lines of a draft carry it; below .3 it is `waiting` and recalled by nothing. It
    `happened` when its time span begins, else when it was made, and `ended` with that. A digest sums up a
    `period`.
    """

    id: str
    kind: str
    text: str
    tags: list[str]
    importance: float
    permanent: bool
    locked: bool
    timelines: str
    state: str
    revision: int
    sources: list[SourceResponse]
    feedback: float
    in_doubt: bool
    confidence: float
    told: int
    merged_into: str | None
    happened: datetime
    ended: datetime
    period: str | None
    strength: float
    last_used: datetime | None


class EdgeResponse(ResponseBody, frozen=True):
    """An edge with its present values. Strength and confidence are not rounded.

    `valid_from` and `valid_to` are only sent for a relation, as far as they are known.
    """

    id: str
    source: str = field(name="from")
    to: str
    kind: str
    strength: float
    stability: float
    uses: int
    verb: str | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    probability: float | UnsetType = UNSET
    valid_from: datetime | UnsetType = UNSET
    valid_to: datetime | UnsetType = UNSET


class ListedMemory(MemoryFields, frozen=True):
    """A memory in a list.

    `reads_now`, with masks for what has blurred, and `visibility`, 0..1, are sent where they were asked for; of a
    line of a chat also the first line of its `scene`.
    `edges` is only sent of a fact: the relation that it tells.
    """

    reads_now: str | UnsetType = UNSET
    visibility: float | UnsetType = UNSET
    scene: str | UnsetType = UNSET
    edges: list[EdgeResponse] | UnsetType = UNSET


class VersionResponse(ResponseBody, frozen=True):
    """A version of a message: its slot and the hash of its text."""

    slot: str
    hash: str


class StampResponse(ResponseBody, frozen=True):
    """When a recall took place: wall time and turn of the soul."""

    recalled_at: datetime = field(name="at")
    turn: int


class UnitResponse(ResponseBody, frozen=True):
    """A part of a memory's text that fades as one; `visibility` 0..1 as of now, `stability` in turns.

    Characters `start` to `end` of the text, or of `reworded` where the memory has one.
    """

    text: str
    gist: str
    visibility: float
    start: int
    end: int
    stability: float


class AnchorResponse(ResponseBody, frozen=True):
    """Words of a memory that outlast what stands around them; `visibility` 0..1 as of now."""

    text: str
    kind: str
    visibility: float
    stability: float


class LeftOutResponse(ResponseBody, frozen=True):
    """What of its message a memory leaves out, because it is no story: so many characters of a kind."""

    kind: str
    characters: int


class MemoryResponse(MemoryFields, frozen=True):
    """A memory with everything that belongs to it. Each set of `evidence` supports it alone.

    `edges` are at most 200 of its `edge_count`, the strongest.
    `fades`: whether any part of it does; `gone_in`: turns until nothing of it is told any more, null when that
    never comes.
    `uses` counts recalls whose reply was kept; `recalls` are the last of them. `recall_frequency` is per turn.
    `base_activation` (0..1, concepts only) is the activation that does not depend on the query.
    """

    soul: str
    origin: str
    created: datetime
    fields: ShownFields
    edges: list[EdgeResponse]
    edge_count: int
    evidence: list[list[VersionResponse]]
    visibility: float
    uses: int
    first_used: datetime | None
    recall_frequency: float
    recalls: list[StampResponse]
    base_activation: float | None = None
    reads_now: str | UnsetType = UNSET
    gone_in: float | None = None
    fades: bool = False
    reworded: str | None = None
    units: list[UnitResponse] = field(default_factory=list)
    anchors: list[AnchorResponse] = field(default_factory=list)
    left_out: list[LeftOutResponse] = field(default_factory=list)


class MemoriesResponse(ResponseBody, frozen=True):
    """A page of memories; `cursor` is null on the last page."""

    memories: list[ListedMemory]
    cursor: str | None


class TimelineItem(ResponseBody, frozen=True):
    """A memory with its time span, both ends as stored."""

    id: str
    kind: str
    text: str
    start: datetime = field(name="from")
    end: datetime = field(name="to")
    sources: list[SourceResponse]


class TimelineResponse(ResponseBody, frozen=True):
    """A page of the timeline; `cursor` is null on the last page."""

    memories: list[TimelineItem]
    cursor: str | None


class GraphNode(ListedMemory, frozen=True):
    """A memory in a graph; `x` and `y`, 0..1, are only sent with a layout."""

    x: float | UnsetType = UNSET
    y: float | UnsetType = UNSET


class GraphResponse(ResponseBody, frozen=True):
    """A part of a soul's graph."""

    memories: list[GraphNode]
    edges: list[EdgeResponse]


def listed_memory(view: MemoryView) -> ListedMemory:
    """A memory in a list."""
    edges = _edges(view) if view.is_fact else UNSET
    return ListedMemory(**_listed(view), **_read_in_list(view), edges=edges)


def memory_response(view: MemoryView) -> MemoryResponse:
    """A memory with all details; its text is the original wording."""
    memory = view.memory
    return MemoryResponse(
        **_listed(view),
        **_read(view),
        **_usage(view.usage),
        soul=memory.soul,
        origin=memory.origin.value,
        created=memory.created,
        fields=fields_of(memory.kind, memory.situation, memory.concept),
        edges=_edges(view),
        edge_count=len(view.edges) if view.edge_count is None else view.edge_count,
        evidence=[_versions(group) for group in memory.evidence],
        visibility=view.visibility,
        gone_in=view.gone_in,
        fades=view.fades,
        base_activation=view.base_activation,
        reworded=view.reads if view.reads not in ("", memory.text) else None,
        units=[_unit(view.reads, unit) for unit in view.units],
        anchors=list(map(_anchor, view.anchors)),
        left_out=_left_out(view.left_out),
    )


def _left_out(parts: Iterable[LeftOut]) -> list[LeftOutResponse]:
    """The parts by kind, in the order of their kinds' first parts."""
    characters: Counter[str] = Counter()
    for part in parts:
        characters[part.kind.value] += part.end - part.start
    return [LeftOutResponse(kind, count) for kind, count in characters.items()]


def memories_response(page: Page) -> MemoriesResponse:
    """A page of memories."""
    return MemoriesResponse(memories=[listed_memory(v) for v in page.memories], cursor=page.cursor)


def timeline_response(page: Page) -> TimelineResponse:
    """A page of the timeline."""
    return TimelineResponse(memories=[_timeline_item(v) for v in page.memories], cursor=page.cursor)


def graph_response(view: GraphView) -> GraphResponse:
    """A part of a graph."""
    return GraphResponse(
        memories=[_node(v, view.places) for v in view.memories],
        edges=_edges(view),
    )


def _node(view: MemoryView, places: Mapping[MemoryId, tuple[float, float]]) -> GraphNode:
    x, y = places.get(view.memory.id, (UNSET, UNSET))
    return GraphNode(**_listed(view), **_read_in_list(view), x=x, y=y)


def _listed(view: MemoryView) -> dict[str, Any]:
    memory = view.memory
    return {
        "id": memory.id,
        "kind": "fact" if view.is_fact else memory.kind.value,
        "text": memory.text,
        "tags": list(memory.tags),
        "importance": memory.importance,
        "permanent": memory.permanent,
        "locked": memory.locked,
        "timelines": memory.timelines.value,
        "state": (MemoryState.WAITING if view.is_waiting else memory.state).value,
        "revision": memory.revision,
        "sources": sources_response(view.sources),
        "feedback": view.feedback,
        "in_doubt": view.in_doubt,
        "confidence": view.confidence,
        "told": view.told,
        "merged_into": memory.merged_into,
        "happened": memory.happened,
        "ended": memory.ended,
        "period": memory.situation.period,
        "strength": view.strength,
        "last_used": None if view.usage is None else view.usage.last.moment,
    }


def _unit(text: str, unit: MicroUnit) -> UnitResponse:
    span, state = unit.span, unit.retention
    return UnitResponse(
        text=text[span.start : span.end],
        gist=span.gist,
        visibility=state.visibility,
        start=span.start,
        end=span.end,
        stability=state.stability,
    )


def _anchor(anchor: Anchor) -> AnchorResponse:
    state = anchor.retention
    return AnchorResponse(
        text=anchor.text,
        kind=anchor.kind.value,
        visibility=state.visibility,
        stability=state.stability,
    )


def _read(view: MemoryView) -> dict[str, Any]:
    """The field of `ListedMemory` about how it reads, where it is known."""
    return {} if view.reads_now is None else {"reads_now": view.reads_now}


def _read_in_list(view: MemoryView) -> dict[str, Any]:
    """The fields of `ListedMemory` about how it reads, where they were asked for."""
    read = _read(view)
    scene = {} if view.scene is None else {"scene": view.scene}
    return read | {"visibility": view.visibility} | scene if read else read


def _versions(versions: Iterable[Version]) -> list[VersionResponse]:
    return [VersionResponse(slot=v.slot, hash=v.hash) for v in versions]


def _usage(usage: Usage | None) -> dict[str, Any]:
    """The fields of `MemoryResponse` about its recalls."""
    if usage is None:
        return {
            "uses": 0,
            "first_used": None,
            "recall_frequency": 0.0,
            "recalls": [],
        }
    return {
        "uses": usage.count,
        "first_used": usage.first.moment,
        "recall_frequency": usage.frequency(),
        "recalls": [
            StampResponse(recalled_at=stamp.moment, turn=stamp.turn) for stamp in usage.stamps
        ],
    }


def _timeline_item(view: MemoryView) -> TimelineItem:
    memory = view.memory
    return TimelineItem(
        id=memory.id,
        kind=memory.kind.value,
        text=memory.text,
        start=memory.happened,
        end=memory.ended,
        sources=sources_response(view.sources),
    )


def _edges(view: MemoryView | GraphView) -> list[EdgeResponse]:
    return [_edge(edge, view.standing.get(edge.id), view.shown_as) for edge in view.edges]


def _edge(
    edge: Edge, standing: FactValidity | None, shown_as: Mapping[MemoryId, MemoryId]
) -> EdgeResponse:
    since, until = (standing.since, standing.until) if standing is not None else (None, None)
    return EdgeResponse(
        id=edge.id,
        source=shown_as.get(edge.source, edge.source),
        to=shown_as.get(edge.target, edge.target),
        kind=edge.kind.value,
        strength=edge.strength,
        stability=edge.stability,
        uses=edge.uses,
        verb=UNSET if edge.verb is None else edge.verb,
        confidence=edge.confidence,
        probability=UNSET if edge.probability is None else edge.probability,
        valid_from=UNSET if since is None else since,
        valid_to=UNSET if until is None else until,
    )
