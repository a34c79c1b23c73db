"""Responses of recall: the recalled memories, and the trace of a recall."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import UnsetType, field

from soulmem.engine.api.requests import SyncAnswer
from soulmem.engine.api.results import Block, Recalled, RecalledMemory, Trace
from soulmem.server.responses.chats import SyncResponse, sync_response
from soulmem.server.responses.common import (
    PhraseResponse,
    ResponseBody,
    SourceResponse,
    phrase_response,
    sources_response,
)


class StepResponse(ResponseBody, frozen=True):
    """One memory on the path from the query to the recalled memory; `edge` is the edge that led to it."""

    id: str
    label: str
    edge: str | None


class RecalledMemoryResponse(ResponseBody, frozen=True):
    """A memory with its text in the block."""

    id: str
    kind: str
    text: str
    score: float
    hops: int
    permanent: bool
    fired: bool | None
    why: str
    path: list[StepResponse]
    sources: list[SourceResponse]
    age_turns: int
    visibility: float
    pushed: bool


class ItemResponse(ResponseBody, frozen=True):
    """A memory inside a block."""

    memory: str
    text: str
    tokens: int
    scene: str | None = None  # that stands above the first item of a scene


class BlockResponse(ResponseBody, frozen=True):
    """A part of the prompt: a header and its items."""

    section: str
    position: str
    depth: int | None
    role: str
    text: str
    tokens: int
    items: list[ItemResponse]


class TimingsResponse(ResponseBody, frozen=True):
    """Wall milliseconds inside the sidecar."""

    total: float
    embed: float
    search: float
    walk: float
    assemble: float


class RecallResponse(ResponseBody, frozen=True):
    """`memories` are best first and the same as in the blocks.

    `withheld` is how many more would have fitted, but were not called for.
    """

    trace: str
    memories: list[RecalledMemoryResponse]
    blocks: list[BlockResponse]
    tokens: int
    timed_out: bool
    took_ms: TimingsResponse
    withheld: int


class ReplyResponse(ResponseBody, frozen=True):
    """What the sync did, and the recall behind it; `recall` is null if the sync was not applied."""

    sync: SyncResponse
    recall: RecallResponse | None


class QueryPartResponse(ResponseBody, frozen=True):
    """A text that was searched for, with its weight."""

    text: str
    weight: float


class SeedResponse(ResponseBody, frozen=True):
    """A memory where the search began, with its share (0..1)."""

    id: str
    share: float


class ConsideredResponse(ResponseBody, frozen=True):
    """A memory that was considered; `cut` says why it was left out."""

    id: str
    text: str
    score: float
    dense: float | None
    lexical: float | None
    kept: bool
    cut: str | None


class GradeResponse(ResponseBody, frozen=True):
    """A step of a recall: whether it was enough, why, and the milliseconds that it took."""

    name: str
    enough: bool
    why: str
    why_phrase: PhraseResponse | UnsetType
    ms: float


class ActiveMemoryResponse(ResponseBody, frozen=True):
    """A memory in working memory; `loaded`: by this recall. `recalls` led to it or over it."""

    id: str
    text: str
    loaded: bool
    recalls: int
    turns: int  # since the last of them, or since it was written
    why: str


class TraceResponse(ResponseBody, frozen=True):
    """How a recall was computed."""

    id: str
    recalled_at: datetime = field(name="at")
    soul: str
    chat: str | None
    query: list[QueryPartResponse]
    type: str
    grade: str
    grade_why: str
    seeds: list[SeedResponse]
    guidance: dict[str, Any]
    considered: list[ConsideredResponse]
    answer: RecallResponse
    notes: list[str]
    grades: list[GradeResponse]
    working: list[ActiveMemoryResponse]


def recall_response(recalled: Recalled) -> RecallResponse:
    """The result of a recall."""
    took = recalled.took_ms
    return RecallResponse(
        trace=recalled.trace,
        memories=[_memory(m) for m in recalled.memories],
        blocks=[_block(b) for b in recalled.blocks],
        tokens=recalled.tokens,
        timed_out=recalled.timed_out,
        took_ms=TimingsResponse(
            total=took.total,
            embed=took.embed,
            search=took.search,
            walk=took.walk,
            assemble=took.assemble,
        ),
        withheld=recalled.withheld,
    )


def reply_response(synced: SyncAnswer, recalled: Recalled | None) -> ReplyResponse:
    """The results of a sync and of the recall behind it."""
    return ReplyResponse(
        sync=sync_response(synced),
        recall=None if recalled is None else recall_response(recalled),
    )


def trace_response(trace: Trace) -> TraceResponse:
    """What a recall considered and left out, and why."""
    return TraceResponse(
        id=trace.id,
        recalled_at=trace.at,
        soul=trace.soul,
        chat=trace.chat,
        query=[
            QueryPartResponse(text=text, weight=weight) for text, weight in trace.query
        ],
        type=trace.type,
        grade=trace.grade,
        grade_why=trace.grade_why,
        seeds=[SeedResponse(id=memory, share=share) for memory, share in trace.seeds],
        guidance=trace.guidance,
        considered=[
            ConsideredResponse(
                id=c.id,
                text=c.text,
                score=c.score,
                dense=c.dense,
                lexical=c.lexical,
                kept=c.kept,
                cut=c.cut,
            )
            for c in trace.considered
        ],
        answer=recall_response(trace.answer),
        notes=list(trace.notes),
        grades=[
            GradeResponse(
                name=g.name,
                enough=g.enough,
                why=str(g.why),
                why_phrase=phrase_response(g.why),
                ms=g.ms,
            )
            for g in trace.grades
        ],
        working=[
            ActiveMemoryResponse(
                id=active.id,
                text=active.text,
                loaded=active.is_loaded,
                recalls=active.recalls,
                turns=active.turns,
                why=active.why,
            )
            for active in trace.working
        ],
    )


def _memory(m: RecalledMemory) -> RecalledMemoryResponse:
    return RecalledMemoryResponse(
        id=m.id,
        kind=m.kind,
        text=m.text,
        score=m.score,
        hops=m.hops,
        permanent=m.permanent,
        fired=m.fired,
        why=m.why,
        path=[StepResponse(id=s.id, label=s.label, edge=s.edge) for s in m.path],
        sources=sources_response(m.sources),
        age_turns=m.age_turns,
        visibility=m.visibility,
        pushed=m.pushed,
    )


def _block(b: Block) -> BlockResponse:
    return BlockResponse(
        section=b.section,
        position=b.position,
        depth=b.depth,
        role=b.role,
        text=b.text,
        tokens=b.tokens,
        items=[
            ItemResponse(
                memory=i.memory, text=i.text, tokens=i.tokens, scene=i.scene or None
            )
            for i in b.items
        ],
    )
