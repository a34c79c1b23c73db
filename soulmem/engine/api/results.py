"""Results of the engine as values; HTTP and CLI turn them into JSON or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from soulmem.consolidation.validity import FactValidity
from soulmem.domain.edges import Edge
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.llm_usage import LlmUsage
from soulmem.domain.memories import Memory, Place
from soulmem.domain.micro_units import Anchor, MicroUnit
from soulmem.domain.opinions import NEUTRAL
from soulmem.domain.phrases import Phrase, Wording
from soulmem.domain.situation import Emotion
from soulmem.domain.story_text import LeftOut
from soulmem.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class PathStep:
    """One memory on the path from the query, and the edge that led there (None for the first)."""

    id: MemoryId
    label: str
    edge: str | None


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """One memory as it is shown in its block."""

    id: MemoryId
    kind: str
    text: str
    score: float
    hops: int
    permanent: bool
    fired: bool | None
    why: str
    path: tuple[PathStep, ...]
    sources: tuple[Place, ...]
    age_turns: int
    visibility: float  # 0..1
    edges: tuple[str, ...] = ()  # ids: one from each step of `path` to the next
    # >= 1: ages counted 1 / slowing of themselves when it was read out, as it was asked for
    slowing: float = 1.0
    is_masked: bool = False  # parts of the text are blurred
    pushed: bool = False  # it came by itself, not because the query calls for it


@dataclass(frozen=True, slots=True)
class BlockItem:
    """A memory inside a block.

    scene  when it happened, as it stands above the first item of a scene: "46 days ago:"; empty without one
    """

    memory: MemoryId
    text: str
    tokens: int
    scene: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of prompt: a header and its items, joined by newlines."""

    section: str
    position: str  # "in_prompt" or "in_chat"
    depth: int | None
    role: str
    text: str
    tokens: int
    items: tuple[BlockItem, ...]


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall milliseconds inside the sidecar."""

    total: float = 0.0
    embed: float = 0.0
    search: float = 0.0
    walk: float = 0.0
    assemble: float = 0.0


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer to a recall: `memories` best first, exactly those in the blocks."""

    trace: str
    memories: tuple[RecalledMemory, ...]
    blocks: tuple[Block, ...]
    tokens: int
    timed_out: bool
    took_ms: Timings
    withheld: int = 0  # more memories that would have fitted, but were not called for


@dataclass(frozen=True, slots=True)
class Considered:
    """A memory that the recall scored, and whether it was kept."""

    id: MemoryId
    text: str
    score: float
    dense: float | None
    lexical: float | None
    kept: bool
    cut: str | None  # why it was left out


@dataclass(frozen=True, slots=True)
class Grade:
    """A step of a recall: whether what it had by then was enough, why, and how long the step took."""

    name: str  # baseline, expand, walk; or the mode that was asked for
    enough: bool
    why: Phrase
    ms: float


@dataclass(frozen=True, slots=True)
class ActiveMemory:
    """A memory in working memory, and why it is there.

    is_loaded  this recall brings it; the others were active before
    recalls    that led to it or over it
    turns      since the last of them, or since it was written
    """

    id: MemoryId
    text: str
    is_loaded: bool
    recalls: int
    turns: int
    why: str  # a sentence


@dataclass(frozen=True, slots=True)
class Trace:
    """The record of how an answer came about."""

    id: str
    at: datetime
    soul: str
    chat: str | None
    query: tuple[tuple[str, float], ...]  # (text, weight) parts of the query
    type: str
    grade: str
    grade_why: str
    seeds: tuple[tuple[MemoryId, float], ...]
    guidance: dict[str, Any]
    considered: tuple[Considered, ...]
    answer: Recalled
    notes: tuple[str, ...] = ()
    grades: tuple[Grade, ...] = ()
    working: tuple[ActiveMemory, ...] = ()  # what this recall brings first


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory with its present sources, edges and strength; `sources` best first."""

    memory: Memory
    sources: tuple[Place, ...]
    edges: tuple[Edge, ...] = ()
    edge_count: int | None = None  # of more than `edges`; None: those are all
    strength: float = 1.0
    visibility: float = 1.0
    usage: Usage | None = None  # None: it was never recalled
    base_activation: float | None = None  # 0..1, of a concept: activation without a query
    reads: str = ""  # the wording that `units` are parts of: the text, or its rewording
    reads_now: str | None = None  # with masks for what has blurred; None: not asked
    scene: MemoryId | None = None  # the first line of its scene; None: not asked, or none
    gone_in: float | None = None  # turns until nothing of it is told; None: never
    fades: bool = False  # whether any part of it does
    units: tuple[MicroUnit, ...] = ()  # `retention.visibility` as of now
    anchors: tuple[Anchor, ...] = ()
    standing: Mapping[str, FactValidity] = field(
        default_factory=dict
    )  # of the relations among `edges`, by id
    feedback: float = NEUTRAL  # 0..1, the user's opinion
    # the user called its present text wrong, or it waits: it is not recalled
    in_doubt: bool = False
    is_waiting: bool = False  # a draft that its lines hardly carry, not confirmed yet
    confidence: float = 1.0  # 0..1, how far its lines carry a draft
    told: int = 1  # tellings of one event that it unites
    left_out: tuple[LeftOut, ...] = ()  # of its message, because it is no story
    is_fact: bool = False  # `memory` stands for a relation between concepts
    shown_as: Mapping[MemoryId, MemoryId] = field(
        default_factory=dict
    )  # ends of `edges` that are not shown, and what is shown for them


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list; `cursor` is None on the last one."""

    memories: Sequence[MemoryView]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class GraphView:
    """A part of a soul's graph."""

    memories: Sequence[MemoryView]
    edges: Sequence[Edge]
    standing: Mapping[str, FactValidity] = field(
        default_factory=dict
    )  # of the relations among `edges`, by id
    places: Mapping[MemoryId, tuple[float, float]] = field(
        default_factory=dict
    )  # x and y of each memory, 0..1; empty where no layout was asked for
    shown_as: Mapping[MemoryId, MemoryId] = field(
        default_factory=dict
    )  # ends of `edges` that are not shown, and what is shown for them


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the soul knows."""

    concept: MemoryId  # that stands for the person; others may stand for further names
    name: str
    aliases: tuple[str, ...]
    facts: tuple[str, ...]  # ids of relations, strongest first; of very many the first
    fact_count: int  # of all of them
    episodes: int  # that name the person
    last: datetime | None  # when the last of these was over
    feeling: Emotion | None  # of the soul, in its last episodes with the person


@dataclass(frozen=True, slots=True)
class HabitAction:
    """What a trigger sets off; `probability` 0..1, None for an action by itself."""

    view: MemoryView
    probability: float | None


@dataclass(frozen=True, slots=True)
class HabitView:
    """A trigger, the situations that set it off and the actions that it sets off.

    `trigger` is None for an action that nothing sets off.
    """

    trigger: MemoryId | None
    situations: Sequence[MemoryView]
    actions: Sequence[HabitAction]


@dataclass(frozen=True, slots=True)
class HabitPage:
    """A page of habits; `cursor` is None on the last one."""

    habits: Sequence[HabitView]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class EmbedderHealth:
    """`state` is loading, ok, error, or none without any model."""

    state: str
    model: str | None = None
    dim: int | None = None
    fallback: bool = False
    prompt: str | None = None  # prefix of every text; None while there is no model


@dataclass(frozen=True, slots=True)
class Opening:
    """A soul whose memories are being read from the store; recall answers with those that are."""

    soul: SoulId
    name: str
    memories: int  # read so far
    of: int | None  # known where the owner has no other soul


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the sidecar, from its start on."""

    status: str  # starting, ok, degraded
    phase: str  # working, idle
    store_state: str  # ok, error
    store_detail: Wording
    embedder: EmbedderHealth
    kernels: str  # warming, ok
    llm_state: str = "off"
    llm_model: str | None = None
    spent: LlmUsage = field(
        default_factory=LlmUsage
    )  # on language models within the last hour, for all souls
    pending: int = 0
    souls_open: int = 0  # in memory
    souls_closed: int = 0  # not in memory, as nobody used them for a while
    # Permanent memories, each with its soul, that the last recall of the soul had no room for.
    core_left_out: tuple[tuple[SoulId, MemoryId], ...] = ()
    opening: tuple[Opening, ...] = ()
    notes: tuple[Wording, ...] = field(default_factory=tuple)
