"""Which fields a memory of each kind has, both asked and answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

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
from soulmem.server.schemas.common import Body, Prose, Share, Time, Words, utc

_EPISODE = (
    "time_span",
    "location",
    "participants",
    "emotions",
    "sensations",
    "situation",
)
_CONCEPT = ("concept_type", "aliases", "description")
_OF_KIND = {MemoryKind.EPISODE: _EPISODE, MemoryKind.CONCEPT: _CONCEPT}
_MANY = Meta(max_length=1_000)


class TimeSpanBody(Body, frozen=True):
    """When it happened, both ends included; `story` is the story's own words for it."""

    start: Time | None = field(name="from", default=None)
    end: Time | None = field(name="to", default=None)
    story: Words | None = None


class EmotionBody(Body, frozen=True):
    """A feeling and how strong it is."""

    label: Annotated[str, Meta(min_length=1, max_length=2_000)]
    intensity: Share


class ParticipantBody(Body, frozen=True):
    """Someone or something that took part, and what it felt; the soul's own feelings are `emotions`."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    kind: ParticipantKind = ParticipantKind.OTHER
    feels: Annotated[list[EmotionBody], _MANY] = field(default_factory=list)


class FieldsBody(Body, frozen=True):
    """Fields by kind. Episode: the first six. Concept: the last three. Other kinds have none."""

    time_span: TimeSpanBody | UnsetType | None = UNSET
    location: Words | UnsetType | None = UNSET
    participants: Annotated[list[ParticipantBody], _MANY] | UnsetType = UNSET
    emotions: Annotated[list[EmotionBody], _MANY] | UnsetType = UNSET
    sensations: Annotated[list[Words], _MANY] | UnsetType = UNSET
    situation: Prose | UnsetType | None = UNSET
    concept_type: ConceptType | UnsetType = UNSET
    aliases: Annotated[list[Words], _MANY] | UnsetType = UNSET
    description: Prose | UnsetType | None = UNSET

    @property
    def sent(self) -> frozenset[str]:
        """Names of the fields that were sent."""
        return frozenset(
            name for name in (*_EPISODE, *_CONCEPT) if getattr(self, name) is not UNSET
        )

    @property
    def tells_episode(self) -> bool:
        """Whether any field of an episode was sent."""
        return not self.sent.isdisjoint(_EPISODE)

    @property
    def tells_concept(self) -> bool:
        """Whether any field of a concept was sent."""
        return not self.sent.isdisjoint(_CONCEPT)


def refuse_foreign_fields(fields: FieldsBody | None, kind: MemoryKind) -> None:
    """Raises Unprocessable when a field was sent that a memory of `kind` does not have."""
    own = _OF_KIND.get(kind, ())
    for name in (*_EPISODE, *_CONCEPT):
        if (
            fields is not None
            and name not in own
            and getattr(fields, name) is not UNSET
        ):
            has = f"it has {', '.join(own)}" if own else "it has no fields"
            raise Unprocessable(
                f"{name!r} is no field of a memory of kind {kind.value!r}: {has}",
                field=f"fields.{name}",
            )


def situation_of(fields: FieldsBody) -> Situation:
    """The context of an episode; empty where nothing was sent."""
    span = fields.time_span or None
    return Situation(
        time_span=_time_span(span) if span else None,
        location=fields.location or None,
        participants=tuple(
            Participant(p.name, p.kind, _felt(p.feels))
            for p in fields.participants or ()
        ),
        emotions=_felt(fields.emotions or ()),
        sensations=tuple(fields.sensations or ()),
        situation=fields.situation or None,
    )


def _felt(feelings: Iterable[EmotionBody]) -> tuple[Emotion, ...]:
    return tuple(Emotion(one.label, one.intensity) for one in feelings)


def _told(feelings: Iterable[Emotion]) -> list[EmotionBody]:
    return [EmotionBody(label=one.label, intensity=one.intensity) for one in feelings]


def _time_span(span: TimeSpanBody) -> TimeSpan:
    start = utc(span.start, "fields.time_span.from")
    return TimeSpan(start, utc(span.end, "fields.time_span.to"), span.story)


def concept_of(fields: FieldsBody) -> ConceptDetail:
    """What a concept is; the default where nothing was sent."""
    return ConceptDetail(
        concept_type=ConceptType.ENTITY
        if fields.concept_type is UNSET
        else fields.concept_type,
        aliases=tuple(fields.aliases or ()),
        description=fields.description or None,
    )


def fields_of(
    kind: MemoryKind, situation: Situation, concept: ConceptDetail | None
) -> FieldsBody:
    """The fields as they are told: those of the kind, nothing of another."""
    if kind is MemoryKind.CONCEPT:
        detail = concept or ConceptDetail()
        return FieldsBody(
            concept_type=detail.concept_type,
            aliases=list(detail.aliases),
            description=detail.description,
        )
    if kind is not MemoryKind.EPISODE:
        return FieldsBody()
    span = situation.time_span
    return FieldsBody(
        time_span=TimeSpanBody(start=span.start, end=span.end, story=span.story)
        if span
        else None,
        location=situation.location,
        participants=[
            ParticipantBody(name=p.name, kind=p.kind, feels=_told(p.feels))
            for p in situation.participants
        ],
        emotions=_told(situation.emotions),
        sensations=list(situation.sensations),
        situation=situation.situation,
    )
