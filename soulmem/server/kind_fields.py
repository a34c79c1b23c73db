"""Fields of a memory by its kind, for requests and responses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.calendar import within_calendar
from soulmem.domain.digests import Period, first_instant_after
from soulmem.domain.errors import Unprocessable
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import (
    ConceptDetail,
    ConceptType,
    Emotion,
    Participant,
    ParticipantKind,
    Situation,
    TimeSpan,
)
from soulmem.server.common_types import (
    Body,
    Prose,
    Share,
    Time,
    Words,
)

_EPISODE_FIELDS = (
    "time_span",
    "location",
    "participants",
    "emotions",
    "sensations",
    "situation",
)
_CONCEPT_FIELDS = ("concept_type", "aliases", "description")
_FIELDS_BY_KIND = {
    MemoryKind.EPISODE: _EPISODE_FIELDS,
    MemoryKind.CONCEPT: _CONCEPT_FIELDS,
}
_AT_MOST_1000 = Meta(max_length=1_000)


class TimeSpanBody(Body, frozen=True):
    """When it happened, both ends included. `story`: the time in the words of the story."""

    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)
    story: Words | None = None


class EmotionBody(Body, frozen=True):
    """A feeling and its intensity."""

    label: Annotated[str, Meta(min_length=1, max_length=2_000)]
    intensity: Share


class ParticipantBody(Body, frozen=True):
    """A participant and its feelings. The soul's own feelings are in `emotions`."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    kind: ParticipantKind = ParticipantKind.OTHER
    feels: Annotated[list[EmotionBody], _AT_MOST_1000] = field(default_factory=list)


class FieldsBody(Body, frozen=True):
    """Fields by kind. Episodes have the first six, concepts the last three, other kinds none."""

    time_span: TimeSpanBody | UnsetType | None = UNSET
    location: Words | UnsetType | None = UNSET
    participants: Annotated[list[ParticipantBody], _AT_MOST_1000] | UnsetType = UNSET
    emotions: Annotated[list[EmotionBody], _AT_MOST_1000] | UnsetType = UNSET
    sensations: Annotated[list[Words], _AT_MOST_1000] | UnsetType = UNSET
    situation: Prose | UnsetType | None = UNSET
    concept_type: ConceptType | UnsetType = UNSET
    aliases: Annotated[list[Words], _AT_MOST_1000] | UnsetType = UNSET
    description: Prose | UnsetType | None = UNSET

    @property
    def sent(self) -> frozenset[str]:
        """Names of the fields that were sent."""
        return frozenset(
            name
            for name in (*_EPISODE_FIELDS, *_CONCEPT_FIELDS)
            if getattr(self, name) is not UNSET
        )

    @property
    def has_episode_fields(self) -> bool:
        """Whether any field of an episode was sent."""
        return not self.sent.isdisjoint(_EPISODE_FIELDS)

    @property
    def has_concept_fields(self) -> bool:
        """Whether any field of a concept was sent."""
        return not self.sent.isdisjoint(_CONCEPT_FIELDS)


class ShownFields(FieldsBody, frozen=True):
    """Fields of a memory that is shown: those of an episode or a concept, or what a digest sums up."""

    period: Period | UnsetType = UNSET
    start: Time | UnsetType = field(name="from", default=UNSET)  # inclusive
    end: Time | UnsetType = field(name="to", default=UNSET)  # exclusive
    speakers: list[Words] | UnsetType = UNSET


def refuse_foreign_fields(fields: FieldsBody | None, kind: MemoryKind) -> None:
    """Raises Unprocessable if a field was sent that a memory of `kind` does not have."""
    if fields is None:
        return
    own = _FIELDS_BY_KIND.get(kind, ())
    for name in (*_EPISODE_FIELDS, *_CONCEPT_FIELDS):
        if name in fields.sent and name not in own:
            remedy = f"it has {', '.join(own)}" if own else "it has no fields"
            raise Unprocessable(
                f"{name!r} is not a field of a memory of kind {kind.value!r}: {remedy}",
                field=f"fields.{name}",
            )


def situation_of(fields: FieldsBody) -> Situation:
    """The context of an episode; fields that were not sent are empty."""
    span = fields.time_span or None
    return Situation(
        time_span=_time_span(span) if span else None,
        location=fields.location or None,
        participants=tuple(
            Participant(p.name, p.kind, _emotions(p.feels)) for p in fields.participants or ()
        ),
        emotions=_emotions(fields.emotions or ()),
        sensations=tuple(fields.sensations or ()),
        situation=fields.situation or None,
    )


def _emotions(feelings: Iterable[EmotionBody]) -> tuple[Emotion, ...]:
    return tuple(Emotion(feeling.label, feeling.intensity) for feeling in feelings)


def _emotion_bodies(feelings: Iterable[Emotion]) -> list[EmotionBody]:
    return [EmotionBody(label=feeling.label, intensity=feeling.intensity) for feeling in feelings]


def _time_span(span: TimeSpanBody) -> TimeSpan:
    start = within_calendar(span.start)
    return TimeSpan(start, within_calendar(span.end), span.story)


def concept_of(fields: FieldsBody) -> ConceptDetail:
    """The details of a concept; fields that were not sent have their defaults."""
    return ConceptDetail(
        concept_type=ConceptType.ENTITY if fields.concept_type is UNSET else fields.concept_type,
        aliases=tuple(fields.aliases or ()),
        description=fields.description or None,
    )


def fields_of(kind: MemoryKind, situation: Situation, concept: ConceptDetail | None) -> ShownFields:
    """The fields of a memory of this kind, for a response."""
    if kind is MemoryKind.CONCEPT:
        detail = concept or ConceptDetail()
        return ShownFields(
            concept_type=detail.concept_type,
            aliases=list(detail.aliases),
            description=detail.description,
        )
    span = situation.time_span
    if kind is MemoryKind.DIGEST and span and span.start and span.end:
        return ShownFields(
            period=Period(situation.period),
            start=span.start,
            end=first_instant_after(span.end),
            speakers=[p.name for p in situation.participants],
        )
    if kind is not MemoryKind.EPISODE:
        return ShownFields()
    return ShownFields(
        time_span=TimeSpanBody(start=span.start, end=span.end, story=span.story) if span else None,
        location=situation.location,
        participants=[
            ParticipantBody(name=p.name, kind=p.kind, feels=_emotion_bodies(p.feels))
            for p in situation.participants
        ],
        emotions=_emotion_bodies(situation.emotions),
        sensations=list(situation.sensations),
        situation=situation.situation,
    )
