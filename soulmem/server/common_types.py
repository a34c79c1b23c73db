"""Types and rules that requests and responses share: strict bodies, ids, times, errors, source messages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from soulmem.domain.ids import ID_PATTERN
from soulmem.domain.memories import Place
from soulmem.domain.phrases import Phrase, Wording


class ResponseBody(Struct, frozen=True, kw_only=True):
    """A JSON object in a response."""


class Done(ResponseBody, frozen=True):
    """Success: the change is stored."""

    ok: bool = True


class PhraseResponse(ResponseBody, frozen=True):
    """A text with its code and values, by which a page says it in another language. A value is a text, a
    number or a phrase in turn.
    """

    code: str
    text: str
    values: dict[str, str | int | float | PhraseResponse]


def phrase_response(wording: Wording | None) -> PhraseResponse | UnsetType:
    """The code and values of a text; unset where it has none."""
    if not isinstance(wording, Phrase):
        return UNSET
    return msgspec.convert(wording.as_json(), PhraseResponse)


class Problem(ResponseBody, frozen=True):
    """An error: a stable code, a message with the value and the remedy, the path of the value, and the message
    as a phrase.
    """

    error: str
    message: str
    field: str | UnsetType = UNSET
    phrase: PhraseResponse | UnsetType = UNSET


class SourceResponse(ResponseBody, frozen=True):
    """A message that supports a memory."""

    chat: str
    slot: str


def sources_response(places: Iterable[Place]) -> list[SourceResponse]:
    """The source messages, in the given order: best first."""
    return [SourceResponse(chat=p.chat, slot=p.slot) for p in places]


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
