"""Which answers all resources share: success without content, errors, places."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, Struct, UnsetType

from soulmem.domain.memories import Place


class Answer(Struct, frozen=True, kw_only=True):
    """A JSON object of an answer."""


class Done(Answer, frozen=True):
    """It is done, and durable."""

    ok: bool = True


class Problem(Answer, frozen=True):
    """Every error: a stable code, words with the value and the remedy, the path of the value."""

    error: str
    message: str
    field: str | UnsetType = UNSET


class SourceAnswer(Answer, frozen=True):
    """A message a memory rests on."""

    chat: str
    slot: str


def sources_answer(places: Iterable[Place]) -> list[SourceAnswer]:
    """The places, in the order given: best first."""
    return [SourceAnswer(chat=p.chat, slot=p.slot) for p in places]
