"""Routes of the people that a soul knows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, field

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.situation import Emotion
from soulmem.engine.api.results import Person
from soulmem.engine.editing.overviews import KnownFilter, KnownPage
from soulmem.engine.views.feelings_over_time import FeltStretch
from soulmem.engine.views.heart import Heart
from soulmem.engine.views.known import KnownThing
from soulmem.graph.layout import MIDDLE
from soulmem.server.common_types import (
    Body,
    Cursor,
    Id,
    NoBody,
    NoQuery,
    PageLimit,
    Query,
    ResponseBody,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route

Name = Annotated[str, Meta(min_length=1, max_length=2_000)]


class PeopleQuery(Query, frozen=True):
    """Selects the soul whose acquaintances are listed."""

    soul: Id


class HeartQuery(Query, frozen=True):
    """Selects the soul whose heart is mapped; `you`: the player's name; `spots`: also places and scenes."""

    soul: Id
    you: Name | None = None
    spots: bool = False


class KnownQuery(Query, frozen=True):
    """Selects a page of what a soul knows of people.

    `about`: a name, or the id of a concept. `state`: what holds now, or what a later line ended.
    """

    about: Name | None = None
    kind: Literal["fact", "promise", "secret", "gift", "like", "date"] | None = None
    state: Literal["now", "past"] | None = None
    limit: PageLimit = 100
    cursor: Cursor | None = None


class SplitBody(Body, frozen=True):
    """The names by which two people of one name are told apart: of the one that is there, and of the other."""

    name: Name
    other: Name


class PersonResponse(ResponseBody, frozen=True):
    """Somebody whom the soul knows.

    `facts` are ids of relations, strongest first; of more than 200 the first, `fact_count` counts all. `episodes`
    name the person; `last` is when the last of these was. `feeling` is what the soul felt most in the last of
    them, null where it felt nothing.
    """

    concept: str
    name: str
    aliases: list[str]
    facts: list[str]
    fact_count: int
    episodes: int
    last: datetime | None
    feeling: FeelingResponse | None


class PeopleResponse(ResponseBody, frozen=True):
    """The people that a soul knows, whom it met most often first."""

    people: list[PersonResponse]


class HeartPersonResponse(ResponseBody, frozen=True):
    """Somebody on the map, with a place 0..1."""

    concept: str
    name: str
    aliases: list[str]
    episodes: int
    x: float
    y: float


class HeartSpotResponse(ResponseBody, frozen=True):
    """A place, or a scene (with `began`), on the map; x, y: 0..1; `name` of a scene: where most of it was."""

    id: str
    name: str
    began: datetime | None
    memories: int
    x: float
    y: float


class HeartLineResponse(ResponseBody, frozen=True):
    """What happened between two people, or at a spot: a sentence of a memory as it reads now.

    `first` is null for the soul. `weight`, 0..1: how often they were met, on a log scale against whom the soul met
    most. `clear`, 0..1: the memory's visibility.
    """

    first: str | None
    second: str
    text: str
    memory: str
    weight: float
    clear: float


class HeartResponse(ResponseBody, frozen=True):
    """The map of a soul's heart: whom it met most, with what happened.

    `middle` are the places of the soul and of the player, `you` the concept of who goes by the player's name.
    """

    people: list[HeartPersonResponse]
    lines: list[HeartLineResponse]
    middle: list[tuple[float, float]]
    you: str | None
    spots: list[HeartSpotResponse]


class KnownThingResponse(ResponseBody, frozen=True):
    """A line of a message that tells something lasting of somebody.

    `kind` is fact, promise, secret, gift, like or date; `about` the name of the one it tells of, with its
    `concept` where the soul knows it as one; `speaker` who says it, null where it is told; `location` where that
    was; `sure` 0..1 how clearly it tells something lasting. A line that a later one says otherwise has `until` and
    `replaced_by`, the id of the later. `kept` is whether a promise was kept: its memory has the tag `kept` or
    `broken`; null where it is open.
    """

    id: str
    kind: str
    about: str
    concept: str | None
    speaker: str | None
    quote: str
    memory: str
    chat: str | None
    slot: str | None
    said_at: datetime
    story_at: str | None
    location: str | None
    sure: float
    until: datetime | None
    replaced_by: str | None
    kept: bool | None
    permanent: bool


class KnownResponse(ResponseBody, frozen=True):
    """A page of what a soul knows of people, the latest first; `cursor` is null on the last page.

    `unread` counts memories that were not looked through for such lines yet: 0 where no more will come of what was
    said.
    """

    known: list[KnownThingResponse]
    cursor: str | None
    unread: int


class SplitResponse(ResponseBody, frozen=True):
    """The concepts of two people who were told apart: the one that was there, and the other."""

    concept: str
    other: str


def people_response(people: Iterable[Person]) -> PeopleResponse:
    """The people that a soul knows."""
    return PeopleResponse(people=[_person(person) for person in people])


def heart_response(heart: Heart) -> HeartResponse:
    """The map of a soul's heart."""
    people = [
        HeartPersonResponse(
            person.concept,
            person.name,
            list(person.aliases),
            person.episodes,
            *heart.places[person.concept],
        )
        for person in heart.people
    ]
    lines = [
        HeartLineResponse(
            first=line.first,
            second=line.second,
            text=line.text,
            memory=line.memory,
            weight=round(line.weight, 4),
            clear=round(line.clear, 4),
        )
        for line in heart.lines
    ]
    spots = [
        HeartSpotResponse(
            spot.id, spot.name, spot.began, int(spot.rows.size), *heart.places[spot.id]
        )
        for spot in heart.spots
    ]
    return HeartResponse(people, lines, list(MIDDLE), heart.you, spots)


def known_response(page: KnownPage) -> KnownResponse:
    """A page of what a soul knows of people."""
    return KnownResponse(
        known=list(map(_known, page.things)), cursor=page.cursor, unread=page.unread
    )


def _known(thing: KnownThing) -> KnownThingResponse:
    return KnownThingResponse(
        id=thing.id,
        kind=thing.told_as,
        about=thing.about,
        concept=thing.concept,
        speaker=thing.speaker or None,
        quote=thing.quote,
        memory=thing.memory,
        chat=thing.place.chat if thing.place else None,
        slot=thing.place.slot if thing.place else None,
        said_at=thing.said_at,
        story_at=thing.story_at,
        location=thing.location,
        sure=thing.sure,
        until=thing.until,
        replaced_by=thing.replaced_by,
        kept=thing.kept,
        permanent=thing.permanent,
    )


def _person(person: Person) -> PersonResponse:
    return PersonResponse(
        concept=person.concept,
        name=person.name,
        aliases=list(person.aliases),
        facts=list(person.facts),
        fact_count=person.fact_count,
        episodes=person.episodes,
        last=person.last,
        feeling=feeling_response(person.feeling),
    )


class FeelingResponse(ResponseBody, frozen=True):
    """A feeling of the soul; `intensity` 0..1."""

    label: str
    intensity: float


class FeltStretchResponse(ResponseBody, frozen=True):
    """What was felt most in a stretch of scenes, whose first took place at `from` and whose last at `to`.

    `balance`: -1 all unpleasant to 1 all pleasant. `feeling` is null where nothing was felt; `memory` is the
    scene in which it was strongest.
    """

    start: datetime = field(name="from")
    end: datetime = field(name="to")
    balance: float
    feeling: FeelingResponse | None
    memory: str | None


class FeelingsResponse(ResponseBody, frozen=True):
    """What a soul felt, in stretches of equally many scenes, the earliest first."""

    stretches: list[FeltStretchResponse]


def feelings_response(felt: Iterable[FeltStretch]) -> FeelingsResponse:
    """What a soul felt over time."""
    return FeelingsResponse(stretches=[_stretch(stretch) for stretch in felt])


def feeling_response(feeling: Emotion | None) -> FeelingResponse | None:
    """A feeling; None without one."""
    if feeling is None:
        return None
    return FeelingResponse(label=feeling.label, intensity=feeling.intensity)


def _stretch(stretch: FeltStretch) -> FeltStretchResponse:
    return FeltStretchResponse(
        start=stretch.start,
        end=stretch.end,
        balance=stretch.balance,
        feeling=feeling_response(stretch.feeling),
        memory=stretch.memory,
    )


@route("GET", "/v1/people", query=PeopleQuery, body=None, response=PeopleResponse)
async def list_people(call: Call[PeopleQuery, NoBody]) -> Reply[PeopleResponse]:
    """The people that a soul knows, whom it met most often first."""
    people = await call.engine.overviews.people(call.owner, SoulId(call.query.soul))
    rows = sum(1 + len(person.facts) for person in people)
    return Reply(lambda: people_response(people), rows=rows)


@route("GET", "/v1/heart", query=HeartQuery, body=None, response=HeartResponse)
async def map_heart(call: Call[HeartQuery, NoBody]) -> Reply[HeartResponse]:
    """Whom a soul met most, with a sentence of what happened on each line."""
    you = call.query.you or ""
    query = call.query
    heart = await call.engine.overviews.heart(
        call.owner, SoulId(query.soul), you, with_spots=query.spots
    )
    return Reply(lambda: heart_response(heart), rows=len(heart.people) + len(heart.lines))


@route(
    "GET",
    "/v1/souls/{soul}/known",
    query=KnownQuery,
    body=None,
    response=KnownResponse,
)
async def list_known(call: Call[KnownQuery, NoBody]) -> Reply[KnownResponse]:
    """What a soul knows of people, as quotes of its messages: facts, promises, secrets, gifts, likes, dates."""
    query = call.query
    is_past = None if query.state is None else query.state == "past"
    page = await call.engine.overviews.known(
        call.owner,
        SoulId(call.ids["soul"]),
        KnownFilter(query.kind, query.about, is_past),
        query.limit,
        query.cursor,
    )
    return Reply(lambda: known_response(page), rows=len(page.things))


@route(
    "POST",
    "/v1/people/{concept}/split",
    query=NoQuery,
    body=SplitBody,
    response=SplitResponse,
    statuses=(201,),
)
async def split_person(call: Call[NoQuery, SplitBody]) -> Reply[SplitResponse]:
    """Tell two people of one name apart, in one step: each gets a name of its own, and both keep the old one."""
    concept = MemoryId(call.ids["concept"])
    other = await call.engine.namesakes.split(call.owner, concept, call.body.name, call.body.other)
    return Reply(lambda: SplitResponse(concept=concept, other=other), status=201)


ROUTES = (list_people, map_heart, list_known, split_person)
