"""Routes of recall: memories for the next reply, and the trace of a recall."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, UnsetType, field

from soulmem.domain.calendar import within_calendar
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.situation import Emotion
from soulmem.engine.api.requests import (
    RecallMode,
    RecallRequest,
    RecallType,
    SyncAnswer,
    SyncRequest,
    TimeRange,
)
from soulmem.engine.api.results import Block, Recalled, RecalledMemory, Trace
from soulmem.server.common_types import (
    Body,
    Count,
    Id,
    NoBody,
    NoQuery,
    PhraseResponse,
    ResponseBody,
    Share,
    SourceResponse,
    Tags,
    Time,
    Words,
    phrase_response,
    sources_response,
)
from soulmem.server.replies import Reply
from soulmem.server.resources.chats import (
    SyncBody,
    SyncResponse,
    sync_request,
    sync_response,
)
from soulmem.server.resources.souls import Items, Tokens
from soulmem.server.routes import Call, route

_MAX_CHARACTERS = 200_000  # of one text, and of all context texts together
_MAX_TEXTS = 64
Question = Annotated[str, Meta(max_length=_MAX_CHARACTERS)]
ContextTexts = Annotated[
    list[Annotated[str, Meta(max_length=_MAX_CHARACTERS)]],
    Meta(
        max_length=_MAX_TEXTS,
        description="other texts of the prompt: card fields, greeting, active lore",
    ),
]

ReasonLanguage = Annotated[
    Literal["en", "zh"],
    Meta(description="of the reasons; that of the scene when it is left out"),
]


class TimeRangeBody(Body, frozen=True):
    """`from` inclusive, `to` exclusive; an end that is left out is open."""

    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)


class MoodBody(Body, frozen=True):
    """The feeling of the scene."""

    label: Words
    intensity: Share


class RecallBody(Body, frozen=True):
    """A recall request to a soul. If `query` is null, the last messages of the chat are used."""

    soul: Id
    chat: Id | None = None
    slot: Id | None = None
    swipe: Count | None = None
    query: Question | None = None
    intent: Question | None = None
    type: RecallType = RecallType.NORMAL
    budget_tokens: Tokens | None = None
    max_items: Items | None = None
    context_from: Id | None = None
    context_texts: ContextTexts = field(default_factory=list)
    time_budget_ms: Annotated[int, Meta(ge=1, le=600_000)] | None = None
    mode: RecallMode = RecallMode.AUTO
    time_range: TimeRangeBody | None = None
    mood: MoodBody | None = None
    tags: Tags = field(default_factory=list)
    reserve_window: bool = False
    language: ReasonLanguage | None = None


class ReplyBody(Body, frozen=True):
    """A sync of the chat in the path and the recall for its next reply; `recall.chat` may be left out."""

    sync: SyncBody
    recall: RecallBody


def time_range(start: TimeRangeBody | None) -> TimeRange | None:
    """The span in UTC, or None if both ends are open."""
    if start is None or (start.start is None and start.end is None):
        return None
    span = TimeRange(within_calendar(start.start), within_calendar(start.end))
    if span.start and span.end and span.end <= span.start:
        raise Unprocessable(
            f"the time range ends at {span.end.isoformat()}, not after {span.start.isoformat()}: swap them",
            field="time_range.to",
        )
    return span


def context_texts(texts: list[str]) -> tuple[str, ...]:
    """The texts. Raises Unprocessable if they are too long to be read within a recall."""
    characters = sum(map(len, texts))
    if characters > _MAX_CHARACTERS:
        raise Unprocessable(
            f"the context texts have {characters} characters together: send at most {_MAX_CHARACTERS}",
            field="context_texts",
        )
    return tuple(texts)


def recall_request(body: RecallBody) -> RecallRequest:
    """The engine's request."""
    return RecallRequest(
        soul=SoulId(body.soul),
        chat=ChatId(body.chat) if body.chat else None,
        slot=SlotId(body.slot) if body.slot else None,
        swipe=body.swipe,
        query=body.query,
        intent=body.intent,
        type=body.type,
        budget_tokens=body.budget_tokens,
        max_items=body.max_items,
        context_from=SlotId(body.context_from) if body.context_from else None,
        context_texts=context_texts(body.context_texts),
        time_budget_ms=body.time_budget_ms,
        mode=body.mode,
        time_range=time_range(body.time_range),
        mood=Emotion(body.mood.label, body.mood.intensity) if body.mood else None,
        tags=tuple(body.tags),
        reserve_window=body.reserve_window,
        language=body.language,
    )


def reply_request(chat: ChatId, body: ReplyBody) -> RecallRequest:
    """The engine's request. Raises Unprocessable if it is about another chat than the sync."""
    if body.recall.chat not in (None, chat):
        raise Unprocessable(
            f"the recall is about chat {body.recall.chat!r}, the sync about {chat!r}: name the same chat",
            field="recall.chat",
        )
    with _field("recall"):
        return replace(recall_request(body.recall), chat=chat)


def reply_sync(chat: ChatId, body: ReplyBody) -> SyncRequest:
    """The engine's request of the sync. Raises Unprocessable."""
    with _field("sync"):
        return sync_request(chat, body.sync)


@contextmanager
def _field(name: str) -> Iterator[None]:
    """Errors of a part of the body name their field from the top of the body."""
    try:
        yield
    except Unprocessable as error:
        error.field = f"{name}.{error.field}"
        raise


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
        query=[QueryPartResponse(text=text, weight=weight) for text, weight in trace.query],
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
            ItemResponse(memory=i.memory, text=i.text, tokens=i.tokens, scene=i.scene or None)
            for i in b.items
        ],
    )


@route("POST", "/v1/recall", query=NoQuery, body=RecallBody, response=RecallResponse)
async def recall(call: Call[NoQuery, RecallBody]) -> Reply[RecallResponse]:
    """Memories for the next reply, cut to the token budget."""
    recalled = await call.engine.recaller.recall(call.owner, recall_request(call.body))
    return Reply(lambda: recall_response(recalled), rows=len(recalled.memories))


@route(
    "POST",
    "/v1/chats/{chat}/recall",
    query=NoQuery,
    body=ReplyBody,
    response=ReplyResponse,
)
async def sync_and_recall(call: Call[NoQuery, ReplyBody]) -> Reply[ReplyResponse]:
    """Make the stored chat equal to the client's, then recall for its next reply."""
    chat = ChatId(call.ids["chat"])
    request = reply_request(chat, call.body)
    sync = await call.convert(lambda: reply_sync(chat, call.body))
    synced, recalled = await call.engine.replies.recall(call.owner, sync, request)
    return Reply(lambda: reply_response(synced, recalled), rows=len(synced.needs_text))


@route("GET", "/v1/traces/{trace}", query=NoQuery, body=None, response=TraceResponse)
async def get_trace(call: Call[NoQuery, NoBody]) -> Reply[TraceResponse]:
    """What a recall considered and left out, and why."""
    trace = await call.engine.recaller.trace(call.owner, call.ids["trace"])
    return Reply(lambda: trace_response(trace), rows=len(trace.considered))


ROUTES = (recall, sync_and_recall, get_trace)
