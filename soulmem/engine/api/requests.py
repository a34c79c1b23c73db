"""What can be asked of the engine, as values: the doors (HTTP, CLI) build them, the engine trusts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from soulmem.domain.dialogue import Base as Base
from soulmem.domain.dialogue import Fork
from soulmem.domain.dialogue import SentMessage as SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState, Timelines
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
    """What a sync did. With `needs_text` nothing was applied; `held` counts messages whose loss waits for
    a word.
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
    """Why a generation is about to start."""

    NORMAL = "normal"
    SWIPE = "swipe"
    REGENERATE = "regenerate"
    CONTINUE = "continue"
    IMPERSONATE = "impersonate"
    QUIET = "quiet"


class RecallMode(str, Enum):
    """Which grade of recall is wanted; `auto` chooses."""

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
    """A question to a soul. None for a budget means the soul's or the sidecar's own setting."""

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
    context_texts: tuple[
        str, ...
    ] = ()  # what else stands in the prompt: card, greeting, active lore
    time_budget_ms: int | None = None
    mode: RecallMode = RecallMode.AUTO
    time_range: TimeRange | None = None
    mood: Emotion | None = None
    tags: tuple[str, ...] = ()
    reserve_window: bool = False  # the chat's last exchanges may be told although they stand in the context


@dataclass(frozen=True, slots=True)
class NewEdge:
    """An edge of a memory: to `to`, or from `source` when given. What is None stays as it is, if the edge is
    there already.
    """

    kind: EdgeKind
    to: MemoryId | None = None
    source: MemoryId | None = None
    strength: float | None = None  # None: what edges of the kind start at
    verb: str | None = None
    confidence: float | None = None  # None: 1
    probability: float | None = (
        None  # of `fires`; None: what the trigger's other actions leave
    )


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory made by the user's hand."""

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


@dataclass(frozen=True, slots=True)
class MemoryPatch:
    """What to change of a memory; None leaves a field alone."""

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
    fields: frozenset[str] | None = (
        None  # which of those two are meant, by name; None: all
    )
    edges: tuple[NewEdge, ...] | None = None  # added to what is there
    in_doubt: bool | None = None  # nothing recalls what is in doubt
    revision: int | None = None


class TagMatch(str, Enum):
    """How a tag or a word is looked for."""

    LADDER = "ladder"
    EXACT = "exact"
    PARTIAL = "partial"
    MEANING = "meaning"  # in the order of a recall of these words; then as LADDER


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories to list; `limit` 1..1000."""

    soul: SoulId
    kind: MemoryKind | None = None
    q: str | None = None
    tag: str | None = None
    match: TagMatch = TagMatch.LADDER
    permanent: bool | None = None
    state: MemoryState = MemoryState.ACTIVE
    limit: int = 100
    cursor: str | None = None


class ImportFormat(str, Enum):
    """What sort of file is imported."""

    ST_CHAT = "st_chat"
    CARD = "card"
    WORLD_INFO = "world_info"
    BUNDLE = "bundle"


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """A file to be taken into a soul's memory. With `dry_run` it is only said what that would do."""

    soul: SoulId
    format: ImportFormat
    data: bytes
    name: str = ""  # of the file; the same name again is the same chat or world
    others: tuple[SoulId, ...] = ()  # who else was in the chat
    persona: str = ""  # what the player is called; empty: as in the soul's chats
    dry_run: bool = False
    confirm_removal: bool = False
