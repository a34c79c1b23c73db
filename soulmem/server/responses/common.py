"""Response types that all resources share: success, error, source messages."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, Struct, UnsetType

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
