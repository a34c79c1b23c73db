"""A memory: kind, text, protection, provenance and reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from soulmem.domain.dialogue import Version
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.phrases import phrase
from soulmem.domain.situation import ConceptDetail, ConceptType, Situation
from soulmem.domain.terms import Term


class MemoryKind(str, Enum):
    """Kind of memory."""

    EPISODE = "episode"
    ABSTRACT_EPISODE = "abstract_episode"
    CONCEPT = "concept"
    TRIGGER = "trigger"
    ACTION = "action"
    NOTE = "note"
    SUMMARY = "summary"
    DIGEST = "digest"


class Origin(str, Enum):
    """Who made a memory, which decides what removes it.

    USER: nothing but the user. CARD: removal of the name. CHAT: loss of its messages. MODEL:
    loss of any message the model read.
    """

    CHAT = "chat"
    USER = "user"
    CARD = "card"
    MODEL = "model"


class Timelines(str, Enum):
    """Where a memory is known: on its own branch, or everywhere."""

    THIS = "this"
    ALL = "all"


class MemoryState(str, Enum):
    """In use, binned by the user, retracted with its chat, waiting to be rebuilt, forgotten, or united
    with others of the same event.
    """

    ACTIVE = "active"
    BIN = "bin"
    RETRACTED = "retracted"  # comes back by itself when its messages do; listed as bin
    STALE = "stale"
    FORGOTTEN = "forgotten"  # comes back by itself when a text names it anew; listed as bin
    # `merged_into` stands for it; comes back by itself when that memory goes
    MERGED = "merged"
    # A draft that its lines hardly carry, until the user or another draft confirms it: in lists, never stored
    WAITING = "waiting"


# Goes with its messages, until the user lays hands on it
DERIVED = (Origin.CHAT, Origin.MODEL)
# Texts are linked to it
NAMEABLE = (
    MemoryState.ACTIVE,
    MemoryState.STALE,
    MemoryState.FORGOTTEN,
    MemoryState.MERGED,
)
BINNED = (MemoryState.BIN, MemoryState.RETRACTED, MemoryState.FORGOTTEN)


@dataclass(frozen=True, slots=True)
class Place:
    """A message's place in a chat."""

    chat: ChatId
    slot: SlotId


@dataclass(frozen=True, slots=True)
class Memory:
    """One node of a soul's graph."""

    id: MemoryId
    soul: SoulId
    kind: MemoryKind
    text: str
    origin: Origin
    created: datetime  # aware
    tags: tuple[str, ...] = ()
    importance: float = 0.5  # 0..1
    permanent: bool = False
    locked: bool = False
    timelines: Timelines = Timelines.ALL
    state: MemoryState = MemoryState.ACTIVE
    revision: int = 1
    # Each set alone is enough to know it
    evidence: tuple[tuple[Version, ...], ...] = ()
    place: Place | None = None  # where a user-made memory of one timeline belongs
    situation: Situation = field(default_factory=Situation)
    concept: ConceptDetail | None = None
    terms: tuple[Term, ...] = ()  # of a text: what it is about, most salient first
    names: tuple[str, ...] = ()  # of a text: what it gives as a name, as written
    # Of a merged telling: the memory that stands for it
    merged_into: MemoryId | None = None
    kept_apart: bool = False  # the user separated it: it is never joined again
    brought_back: bool = False  # the user undid its forgetting: it stays
    # The user, a file or a model gave its importance
    importance_given: bool = False

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise Unprocessable(phrase("memory_no_text", "a memory needs a text"), field="text")
        if not 0.0 <= self.importance <= 1.0:
            raise Unprocessable(
                phrase(
                    "importance_range",
                    "importance {importance} is outside 0..1",
                    importance=self.importance,
                ),
                field="importance",
            )

    @property
    def importance_stays(self) -> bool:
        """Whether its importance is what is stored; else the kinds of its lines say it."""
        is_own = self.origin is Origin.USER or self.permanent or self.locked
        return is_own or self.importance_given or self.origin is Origin.MODEL

    @property
    def is_bare_name(self) -> bool:
        """True for a concept that is only a name: of the card, learned, or a topic found in texts.

        Such concepts are used to spot mentions and for walks; their text is never recalled.
        """
        return self.kind is MemoryKind.CONCEPT and self.origin is not Origin.USER

    @property
    def is_searched(self) -> bool:
        """True if its text is searched: not binned, no bare name, no summary.

        A digest is recalled by what it tells.
        """
        return (
            not self.is_binned
            and not self.is_bare_name
            and self.kind not in (MemoryKind.SUMMARY, MemoryKind.DIGEST)
        )

    @property
    def is_binned(self) -> bool:
        """True if it is in the bin, whatever put it there."""
        return self.state in BINNED

    @property
    def is_learned_name(self) -> bool:
        """True for a name learned from messages."""
        return self.kind is MemoryKind.CONCEPT and self.origin is Origin.CHAT and not self.is_topic

    @property
    def is_topic(self) -> bool:
        """True for a concept of type topic."""
        return self.concept is not None and self.concept.concept_type is ConceptType.TOPIC

    @property
    def is_found_topic(self) -> bool:
        """True for a topic found in texts, not made or named by the user."""
        return self.is_topic and self.origin is Origin.CHAT

    @property
    def strongest_emotion(self) -> float:
        """Intensity, 0..1, of its strongest emotion; 0 without any."""
        emotions = self.situation.emotions
        return max((emotion.intensity for emotion in emotions), default=0.0)

    @property
    def happened(self) -> datetime:
        """When it took place: the start of its time span, else when it was made."""
        span = self.situation.time_span
        return (span.start or span.end or self.created) if span else self.created

    @property
    def ended(self) -> datetime:
        """When it was over: the end of its time span, else when it took place."""
        span = self.situation.time_span
        return (span.end if span else None) or self.happened
