"""Types and rules that all requests share: strict bodies, ids, times, shares, bounded texts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from soulmem.domain.ids import ID_PATTERN

HASH_PATTERN = r"^[0-9a-f]{16}\Z"
DIGEST_PATTERN = r"^[0-9a-f]{64}\Z"
CURSOR_PATTERN = r"^[\x21-\x7e]{1,1024}\Z"

Id = Annotated[str, Meta(pattern=ID_PATTERN)]
Time = Annotated[datetime, Meta(tz=True, description="ISO 8601 with seconds and zone")]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Words = Annotated[str, Meta(max_length=2_000)]  # a name, a title, a label
Tag = Annotated[str, Meta(min_length=1, max_length=1_000)]
Tags = Annotated[list[Tag], Meta(max_length=1_000)]
Prose = Annotated[str, Meta(max_length=100_000)]
Cursor = Annotated[str, Meta(pattern=CURSOR_PATTERN)]
PageLimit = Annotated[int, Meta(ge=1, le=1_000)]

_T = TypeVar("_T")


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object in which an unknown field is an error."""


class Query(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters; an unknown one is an error."""


class NoQuery(Query, frozen=True):
    """A route without query parameters."""


class NoBody(Body, frozen=True):
    """A route without a body, or with an empty object."""


class Confirm(Query, frozen=True):
    """The user's confirmation, where one is required."""

    confirm: Annotated[str, Meta(max_length=2_000)] | None = None


def without_repeats(values: Iterable[_T]) -> tuple[_T, ...]:
    """The values without repeats, in order."""
    return tuple(dict.fromkeys(values))
