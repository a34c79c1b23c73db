"""Responses of memories: in lists, with all details, on the timeline, as a graph."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType, field

from soulmem.consolidation.validity import FactValidity
from soulmem.domain.dialogue import Version
from soulmem.domain.edges import Edge
from soulmem.domain.usage import Usage
from soulmem.engine.api.results import GraphView, MemoryView, Page
from soulmem.server.responses.common import (
    ResponseBody,
    SourceResponse,
    sources_response,
)
from soulmem.server.schemas.fields import FieldsBody, fields_of


class ListedMemory(ResponseBody, frozen=True):
    """A memory in a list."""

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


class VersionResponse(ResponseBody, frozen=True):
    """A version of a message: its slot and the hash of its text."""

    slot: str
    hash: str


class StampResponse(ResponseBody, frozen=True):
    """When a recall took place: wall time and turn of the soul."""

    recalled_at: datetime = field(name="at")
    turn: int


class AnchorResponse(ResponseBody, frozen=True):
    """Words of a memory that do not fade; `visibility` 0..1."""

    text: str
    kind: str
    visibility: float


class MemoryResponse(ListedMemory, frozen=True):
    """A memory with everything that belongs to it. Each set of `evidence` supports it alone.

    `uses` counts recalls whose reply was kept; `recalls` are the last of them. `recall_frequency` is per turn.
    `base_activation` (0..1, concepts only) is the activation that does not depend on the query.
    """

    soul: str
    origin: str
    created: datetime
    fields: FieldsBody
    edges: list[EdgeResponse]
    evidence: list[list[VersionResponse]]
    strength: float
    visibility: float
    uses: int
    first_used: datetime | None
    last_used: datetime | None
    recall_frequency: float
    recalls: list[StampResponse]
    base_activation: float | None = None
    units: list[dict[str, Any]] = field(default_factory=list)
    anchors: list[AnchorResponse] = field(default_factory=list)


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


class GraphResponse(ResponseBody, frozen=True):
    """A part of a soul's graph."""

    memories: list[ListedMemory]
    edges: list[EdgeResponse]


def listed_memory(view: MemoryView) -> ListedMemory:
    """A memory in a list."""
    return ListedMemory(**_listed(view))


def memory_response(view: MemoryView) -> MemoryResponse:
    """A memory with all details; its text is the original wording."""
    memory = view.memory
    return MemoryResponse(
        **_listed(view),
        **_usage(view.usage),
        soul=memory.soul,
        origin=memory.origin.value,
        created=memory.created,
        fields=fields_of(memory.kind, memory.situation, memory.concept),
        edges=[_edge(edge, view.standing.get(edge.id)) for edge in view.edges],
        evidence=[_versions(group) for group in memory.evidence],
        strength=view.strength,
        visibility=view.visibility,
        base_activation=view.base_activation,
        anchors=[AnchorResponse(text, "spontaneous", 1.0) for text in view.anchors],
    )


def memories_response(page: Page) -> MemoriesResponse:
    """A page of memories."""
    return MemoriesResponse(
        memories=[listed_memory(v) for v in page.memories], cursor=page.cursor
    )


def timeline_response(page: Page) -> TimelineResponse:
    """A page of the timeline."""
    return TimelineResponse(
        memories=[_timeline_item(v) for v in page.memories], cursor=page.cursor
    )


def graph_response(view: GraphView) -> GraphResponse:
    """A part of a graph."""
    return GraphResponse(
        memories=[listed_memory(v) for v in view.memories],
        edges=[_edge(e, view.standing.get(e.id)) for e in view.edges],
    )


def _listed(view: MemoryView) -> dict[str, Any]:
    memory = view.memory
    return {
        "id": memory.id,
        "kind": memory.kind.value,
        "text": memory.text,
        "tags": list(memory.tags),
        "importance": memory.importance,
        "permanent": memory.permanent,
        "locked": memory.locked,
        "timelines": memory.timelines.value,
        "state": memory.state.value,
        "revision": memory.revision,
        "sources": sources_response(view.sources),
        "feedback": view.feedback,
        "in_doubt": view.in_doubt,
    }


def _versions(versions: Iterable[Version]) -> list[VersionResponse]:
    return [VersionResponse(slot=v.slot, hash=v.hash) for v in versions]


def _usage(usage: Usage | None) -> dict[str, Any]:
    """The fields of `MemoryResponse` about its recalls."""
    if usage is None:
        return {
            "uses": 0,
            "first_used": None,
            "last_used": None,
            "recall_frequency": 0.0,
            "recalls": [],
        }
    return {
        "uses": usage.count,
        "first_used": usage.first.moment,
        "last_used": usage.last.moment,
        "recall_frequency": usage.frequency(),
        "recalls": [
            StampResponse(recalled_at=stamp.moment, turn=stamp.turn)
            for stamp in usage.stamps
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


def _edge(edge: Edge, standing: FactValidity | None) -> EdgeResponse:
    since, until = (
        (standing.since, standing.until) if standing is not None else (None, None)
    )
    return EdgeResponse(
        id=edge.id,
        source=edge.source,
        to=edge.target,
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
