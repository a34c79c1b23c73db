"""The context of an episode: when, where, who, with which feelings and impressions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum

from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Wall-clock time of an event, both ends included; `story` is its time in the story's words."""

    start: datetime | None = None  # aware
    end: datetime | None = None  # aware, not before start
    story: str | None = None

    def __post_init__(self) -> None:
        if self.start and self.end and self.end < self.start:
            raise Unprocessable(
                phrase(
                    "span_backwards",
                    "the time span ends at {end}, before it starts at {start}",
                    end=self.end.isoformat(),
                    start=self.start.isoformat(),
                ),
                field="fields.time_span.to",
            )


class ParticipantKind(str, Enum):
    """What a participant is to the soul."""

    SELF = "self"
    OTHER = "other"
    OBJECT = "object"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Emotion:
    """A feeling, of the soul itself or of a participant."""

    label: str
    intensity: float  # 0..1

    def __post_init__(self) -> None:
        if not 0.0 <= self.intensity <= 1.0:
            raise Unprocessable(
                phrase(
                    "intensity_range",
                    "intensity {intensity} of '{label}' is outside 0..1",
                    intensity=self.intensity,
                    label=self.label,
                ),
                field="fields.emotions",
            )


@dataclass(frozen=True, slots=True)
class Participant:
    """Someone or something that took part."""

    name: str
    kind: ParticipantKind = ParticipantKind.OTHER
    # Of another than the soul, whose own are the emotions of the episode
    feels: tuple[Emotion, ...] = ()


class ConceptType(str, Enum):
    """What a concept stands for."""

    ENTITY = "entity"
    ABSTRACT = "abstract"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Situation:
    """The fields of an episode or a digest; all empty when nothing is known."""

    time_span: TimeSpan | None = None
    location: str | None = None
    participants: tuple[Participant, ...] = ()
    emotions: tuple[Emotion, ...] = ()  # the soul's own
    sensations: tuple[str, ...] = ()
    situation: str | None = None
    period: str | None = None  # of a digest: see `domain.digests`


def story_time(situation: Situation) -> float:
    """Story-calendar time as POSIX seconds; 0 if the situation has none in ISO format."""
    story_date = situation.time_span.story if situation.time_span is not None else None
    if not story_date:
        return 0.0
    try:
        when = datetime.fromisoformat(story_date)
    except ValueError:  # words of the user's own
        return 0.0
    return (when if when.tzinfo is not None else when.replace(tzinfo=timezone.utc)).timestamp()


@dataclass(frozen=True, slots=True)
class ConceptDetail:
    """The fields of a concept."""

    concept_type: ConceptType = ConceptType.ENTITY
    aliases: tuple[str, ...] = ()
    description: str | None = None
