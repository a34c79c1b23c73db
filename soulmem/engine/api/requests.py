"""Requests to the engine as values: HTTP and CLI build and check them, the engine trusts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from soulmem.domain.dialogue import Base as Base
from soulmem.domain.dialogue import Fork
from soulmem.domain.dialogue import SentMessage as SentMessage
from soulmem.domain.digests import Period
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState, Timelines
from soulmem.domain.micro_units import AnchorKind
from soulmem.domain.situation import ConceptDetail, Emotion, Situation


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """A chat as its client shows it now."""

    chat: ChatId
    souls: tuple[SoulId, ...]
    messages: Sequence[SentMessage]
    title: str = ""
    persona: str = ""
    parent: Fork | None = None
    base: Base | None = None
    confirm_removal: bool = False


@dataclass(frozen=True, slots=True)
class SyncAnswer:
    """The effect of a sync. With `needs_text` nothing was applied; `held` counts
    quarantined messages.
    """

    needs_text: tuple[SlotId, ...] = ()
    applied: bool = True
    added: int = 0
    changed: int = 0
    removed: int = 0
    held: int | None = None


class Activity(str, Enum):
    """What the client of a chat is doing."""

    GENERATING = "generating"
    TYPING = "typing"
    IDLE = "idle"
    CLOSED = "closed"


class RecallType(str, Enum):
    """The kind of generation that the recall is for."""

    NORMAL = "normal"
    SWIPE = "swipe"
    REGENERATE = "regenerate"
    CONTINUE = "continue"
    IMPERSONATE = "impersonate"
    QUIET = "quiet"
    PREVIEW = "preview"  # for the user to look at; nothing is learned of it


class RecallMode(str, Enum):
    """The wanted grade of recall; `auto` chooses one."""

    AUTO = "auto"
    BASELINE = "baseline"
    EXPAND = "expand"
    WALK = "walk"
    SPREAD = "spread"
    STEADY = "steady"


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From inclusive, to exclusive; an open end is None."""

    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A query to a soul. A budget of None means the setting of the soul or the sidecar."""

    soul: SoulId
    chat: ChatId | None = None
    slot: SlotId | None = None
    swipe: int | None = None
    query: str | None = None  # None: the chat's last messages
    intent: str | None = None
    type: RecallType = RecallType.NORMAL
    budget_tokens: int | None = None
    max_items: int | None = None  # 1..50
    context_from: SlotId | None = None
    context_texts: tuple[str, ...] = ()  # other texts in the prompt: card, greeting, active lore
    time_budget_ms: int | None = None
    mode: RecallMode = RecallMode.AUTO
    time_range: TimeRange | None = None
    restraint: float | None = None  # 0..2; None: the setting of the soul
    mood: Emotion | None = None
    tags: tuple[str, ...] = ()
    reserve_window: bool = False  # allow the chat's last exchanges although they are in the context
    # "en" or "zh", of the reasons; None: that of the scene
    language: str | None = None


@dataclass(frozen=True, slots=True)
class NewEdge:
    """An edge of a memory: to `to`, or from `source`. None keeps the value of an existing edge."""

    kind: EdgeKind
    to: MemoryId | None = None
    source: MemoryId | None = None
    strength: float | None = None  # None: the start value of the kind
    verb: str | None = None
    confidence: float | None = None  # None: 1
    # of `fires`; None: what remains beside the trigger's other actions
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class NewUnit:
    """A part of a memory's text that fades as one.

    It is characters `start` to `end`; None: where `text` stands first.
    """

    text: str
    start: int | None = None
    end: int | None = None
    gist: str = ""
    visibility: float | None = None  # 0..1; None: as it is


@dataclass(frozen=True, slots=True)
class NewAnchor:
    """Words of a memory's text that outlast what stands around them."""

    text: str
    kind: AnchorKind
    visibility: float | None = None  # 0..1; None: as it is


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that the user creates."""

    soul: SoulId
    kind: MemoryKind
    text: str
    tags: tuple[str, ...] = ()
    importance: float | None = None
    permanent: bool = False
    locked: bool = False
    timelines: Timelines = Timelines.ALL
    chat: ChatId | None = None
    slot: SlotId | None = None
    situation: Situation = field(default_factory=Situation)
    concept: ConceptDetail | None = None
    edges: tuple[NewEdge, ...] = ()
    units: tuple[NewUnit, ...] | None = None
    anchors: tuple[NewAnchor, ...] | None = None


@dataclass(frozen=True, slots=True)
class MemoryPatch:
    """Changes of a memory; None keeps a field."""

    text: str | None = None
    tags: tuple[str, ...] | None = None
    importance: float | None = None
    permanent: bool | None = None
    locked: bool | None = None
    timelines: Timelines | None = None
    chat: ChatId | None = None
    slot: SlotId | None = None
    situation: Situation | None = None
    concept: ConceptDetail | None = None
    # fields of `situation` or `concept` that change; None: all
    fields: frozenset[str] | None = None
    edges: tuple[NewEdge, ...] | None = None  # added to the existing ones
    in_doubt: bool | None = None  # doubted memories are not recalled
    units: tuple[NewUnit, ...] | None = None  # instead of all others; empty: computed
    anchors: tuple[NewAnchor, ...] | None = None  # instead of all others
    revision: int | None = None


class TagMatch(str, Enum):
    """How tags and words are matched."""

    LADDER = "ladder"
    EXACT = "exact"
    PARTIAL = "partial"
    MEANING = "meaning"  # what a recall finds like these words; then what has them as they are


class ListOrder(str, Enum):
    """The order of a list without a search; all but `oldest` the highest first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    STRENGTH = "strength"
    IMPORTANCE = "importance"
    RECALLED = "recalled"  # the last recall


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a soul's memories."""

    chat: ChatId | None = None  # what it tells, and what was made from that
    about: MemoryId | None = None  # a concept: what mentions it, by any of its names
    start: datetime | None = None  # what happened then or later
    end: datetime | None = None  # what happened before
    only_texts: bool = False  # episodes, kinds of them, summaries and notes


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories to list; `limit` 1..1000."""

    soul: SoulId
    kind: MemoryKind | None = None
    only_facts: bool = False  # relations of concepts, in place of memories
    period: Period | None = None  # of digests
    q: str | None = None
    tag: str | None = None
    match: TagMatch = TagMatch.LADDER
    permanent: bool | None = None
    state: MemoryState = MemoryState.ACTIVE
    part: Part = Part()
    order: ListOrder = ListOrder.NEWEST
    limit: int = 100
    cursor: str | None = None


class ImportFormat(str, Enum):
    """The format of an imported file."""

    ST_CHAT = "st_chat"
    CARD = "card"
    WORLD_INFO = "world_info"
    BUNDLE = "bundle"
    MEMORY_STORE = "memory_store"  # of another extension


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """A file to import into a soul. With `dry_run` only the effect is reported."""

    soul: SoulId
    format: ImportFormat
    data: bytes
    name: str = ""  # of the file; the same name stands for the same chat or world
    others: tuple[SoulId, ...] = ()  # the other souls in the chat
    persona: str = ""  # name of the player; empty: as in the soul's chats
    dry_run: bool = False
    confirm_removal: bool = False
