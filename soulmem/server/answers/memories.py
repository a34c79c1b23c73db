"""How memories are told: in lists, whole, on the timeline and as a graph."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType, field

from soulmem.consolidation.validity import FactValidity
from soulmem.domain.edges import Edge
from soulmem.engine.api.results import GraphView, MemoryView, Page
from soulmem.server.answers.common import Answer, SourceAnswer, sources_answer
from soulmem.server.schemas.fields import FieldsBody, fields_of


class ListedMemory(Answer, frozen=True):
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
    sources: list[SourceAnswer]
    feedback: float
    in_doubt: bool


class EdgeAnswer(Answer, frozen=True):
    """An edge as of now; strength and confidence unrounded.

    Of a relation: since when it holds, as far as that is known, and from when on it holds no more.
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


class VersionAnswer(Answer, frozen=True):
    """A text at a place: the unit of evidence."""

    slot: str
    hash: str


class StampAnswer(Answer, frozen=True):
    """When a recall took place: on the wall clock, and as a turn of the soul's own."""

    at: datetime
    turn: int


class AnchorAnswer(Answer, frozen=True):
    """Words of a memory that stay; `visibility` 0..1."""

    text: str
    kind: str
    visibility: float


class MemoryAnswer(ListedMemory, frozen=True):
    """A memory with everything that belongs to it; each set of `evidence` alone is enough to know it.

    `uses` counts recalls whose reply was kept, `recalls` are the last of them; `recall_frequency` per turn.
    `base_activation`, 0..1, is that of a concept: how present it is whatever is asked.
    """

    soul: str
    origin: str
    created: datetime
    fields: FieldsBody
    edges: list[EdgeAnswer]
    evidence: list[list[VersionAnswer]]
    strength: float
    visibility: float
    uses: int
    first_used: datetime | None
    last_used: datetime | None
    recall_frequency: float
    recalls: list[StampAnswer]
    base_activation: float | None = None
    units: list[dict[str, Any]] = field(default_factory=list)
    anchors: list[AnchorAnswer] = field(default_factory=list)


class MemoriesAnswer(Answer, frozen=True):
    """A page of memories; `cursor` is null on the last one."""

    memories: list[ListedMemory]
    cursor: str | None


class TimelineItem(Answer, frozen=True):
    """A memory with the span it took, both ends as stored."""

    id: str
    kind: str
    text: str
    start: datetime = field(name="from")
    end: datetime = field(name="to")
    sources: list[SourceAnswer]


class TimelineAnswer(Answer, frozen=True):
    """A page of the timeline; `cursor` is null on the last one."""

    memories: list[TimelineItem]
    cursor: str | None


class GraphAnswer(Answer, frozen=True):
    """A part of a soul's graph."""

    memories: list[ListedMemory]
    edges: list[EdgeAnswer]


def listed_memory(view: MemoryView) -> ListedMemory:
    """A memory in a list."""
    return ListedMemory(**_listed(view))


def memory_answer(view: MemoryView) -> MemoryAnswer:
    """A memory whole, its text in the original wording."""
    memory, usage = view.memory, view.usage
    return MemoryAnswer(
        **_listed(view),
        soul=memory.soul,
        origin=memory.origin.value,
        created=memory.created,
        fields=fields_of(memory.kind, memory.situation, memory.concept),
        edges=[_edge(e, view.standing.get(e.id)) for e in view.edges],
        evidence=[
            [VersionAnswer(slot=v.slot, hash=v.hash) for v in group]
            for group in memory.evidence
        ],
        strength=view.strength,
        visibility=view.visibility,
        uses=usage.count if usage else 0,
        first_used=usage.first.at if usage else None,
        last_used=usage.last.at if usage else None,
        recall_frequency=usage.frequency() if usage else 0.0,
        recalls=[StampAnswer(at=stamp.at, turn=stamp.turn) for stamp in usage.stamps]
        if usage
        else [],
        base_activation=view.base_activation,
        anchors=[AnchorAnswer(text, "spontaneous", 1.0) for text in view.anchors],
    )


def memories_answer(page: Page) -> MemoriesAnswer:
    """A page of memories."""
    return MemoriesAnswer(
        memories=[listed_memory(v) for v in page.memories], cursor=page.cursor
    )


def timeline_answer(page: Page) -> TimelineAnswer:
    """A page of the timeline."""
    return TimelineAnswer(
        memories=[_timeline_item(v) for v in page.memories], cursor=page.cursor
    )


def graph_answer(view: GraphView) -> GraphAnswer:
    """A part of a graph."""
    return GraphAnswer(
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
        "sources": sources_answer(view.sources),
        "feedback": view.feedback,
        "in_doubt": view.in_doubt,
    }


def _timeline_item(view: MemoryView) -> TimelineItem:
    memory = view.memory
    return TimelineItem(
        id=memory.id,
        kind=memory.kind.value,
        text=memory.text,
        start=memory.happened,
        end=memory.ended,
        sources=sources_answer(view.sources),
    )


def _edge(edge: Edge, standing: FactValidity | None) -> EdgeAnswer:
    since, until = (
        (standing.since, standing.until) if standing is not None else (None, None)
    )
    return EdgeAnswer(
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
