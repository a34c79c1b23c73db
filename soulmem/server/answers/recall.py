"""How a recall is told, and how it came about."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from soulmem.engine.api.results import Block, Recalled, RecalledMemory, Trace
from soulmem.server.answers.common import Answer, SourceAnswer, sources_answer


class StepAnswer(Answer, frozen=True):
    """One memory on the way from the cue; `edge` led there."""

    id: str
    label: str
    edge: str | None


class RecalledMemoryAnswer(Answer, frozen=True):
    """A memory as it stands in its block."""

    id: str
    kind: str
    text: str
    score: float
    hops: int
    permanent: bool
    fired: bool | None
    why: str
    path: list[StepAnswer]
    sources: list[SourceAnswer]
    age_turns: int
    visibility: float


class ItemAnswer(Answer, frozen=True):
    """A memory inside a block."""

    memory: str
    text: str
    tokens: int


class BlockAnswer(Answer, frozen=True):
    """A piece of prompt: a header and its items."""

    section: str
    position: str
    depth: int | None
    role: str
    text: str
    tokens: int
    items: list[ItemAnswer]


class TimingsAnswer(Answer, frozen=True):
    """Wall milliseconds inside the sidecar."""

    total: float
    embed: float
    search: float
    walk: float
    assemble: float


class RecallAnswer(Answer, frozen=True):
    """`memories` best first; they hold exactly what the blocks say."""

    trace: str
    memories: list[RecalledMemoryAnswer]
    blocks: list[BlockAnswer]
    tokens: int
    timed_out: bool
    took_ms: TimingsAnswer


class QueryPartAnswer(Answer, frozen=True):
    """A text that was looked for, with its weight."""

    text: str
    weight: float


class SeedAnswer(Answer, frozen=True):
    """Where the search began, with its share."""

    id: str
    share: float


class ConsideredAnswer(Answer, frozen=True):
    """A memory that was looked at; `cut` says why it was left out."""

    id: str
    text: str
    score: float
    dense: float | None
    lexical: float | None
    kept: bool
    cut: str | None


class TraceAnswer(Answer, frozen=True):
    """How an answer came about."""

    id: str
    at: datetime
    soul: str
    chat: str | None
    query: list[QueryPartAnswer]
    type: str
    grade: str
    grade_why: str
    seeds: list[SeedAnswer]
    guidance: dict[str, Any]
    considered: list[ConsideredAnswer]
    answer: RecallAnswer
    notes: list[str]


def recall_answer(recalled: Recalled) -> RecallAnswer:
    """The answer to a recall."""
    took = recalled.took_ms
    return RecallAnswer(
        trace=recalled.trace,
        memories=[_memory(m) for m in recalled.memories],
        blocks=[_block(b) for b in recalled.blocks],
        tokens=recalled.tokens,
        timed_out=recalled.timed_out,
        took_ms=TimingsAnswer(
            total=took.total,
            embed=took.embed,
            search=took.search,
            walk=took.walk,
            assemble=took.assemble,
        ),
    )


def trace_answer(trace: Trace) -> TraceAnswer:
    """What was considered and cut, and why."""
    return TraceAnswer(
        id=trace.id,
        at=trace.at,
        soul=trace.soul,
        chat=trace.chat,
        query=[
            QueryPartAnswer(text=text, weight=weight) for text, weight in trace.query
        ],
        type=trace.type,
        grade=trace.grade,
        grade_why=trace.grade_why,
        seeds=[SeedAnswer(id=memory, share=share) for memory, share in trace.seeds],
        guidance=trace.guidance,
        considered=[
            ConsideredAnswer(
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
        answer=recall_answer(trace.answer),
        notes=list(trace.notes),
    )


def _memory(m: RecalledMemory) -> RecalledMemoryAnswer:
    return RecalledMemoryAnswer(
        id=m.id,
        kind=m.kind,
        text=m.text,
        score=m.score,
        hops=m.hops,
        permanent=m.permanent,
        fired=m.fired,
        why=m.why,
        path=[StepAnswer(id=s.id, label=s.label, edge=s.edge) for s in m.path],
        sources=sources_answer(m.sources),
        age_turns=m.age_turns,
        visibility=m.visibility,
    )


def _block(b: Block) -> BlockAnswer:
    return BlockAnswer(
        section=b.section,
        position=b.position,
        depth=b.depth,
        role=b.role,
        text=b.text,
        tokens=b.tokens,
        items=[
            ItemAnswer(memory=i.memory, text=i.text, tokens=i.tokens) for i in b.items
        ],
    )
