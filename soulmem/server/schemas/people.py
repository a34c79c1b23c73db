"""Requests of the people that a soul knows."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from soulmem.server.schemas.common import Body, Cursor, Id, PageLimit, Query

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
