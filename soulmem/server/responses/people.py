"""Responses of the people that a soul knows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from soulmem.engine.api.results import Person
from soulmem.server.responses.common import ResponseBody
from soulmem.server.responses.feelings import FeelingResponse, feeling_response


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


class SplitResponse(ResponseBody, frozen=True):
    """The concepts of two people who were told apart: the one that was there, and the other."""

    concept: str
    other: str


def people_response(people: Iterable[Person]) -> PeopleResponse:
    """The people that a soul knows."""
    return PeopleResponse(people=[_person(person) for person in people])


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
