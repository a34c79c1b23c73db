"""Requests of the people that a soul knows."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from soulmem.server.schemas.common import Body, Id, Query

Name = Annotated[str, Meta(min_length=1, max_length=2_000)]


class PeopleQuery(Query, frozen=True):
    """Selects the soul whose acquaintances are listed."""

    soul: Id


class SplitBody(Body, frozen=True):
    """The names by which two people of one name are told apart: of the one that is there, and of the other."""

    name: Name
    other: Name
