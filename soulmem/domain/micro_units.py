"""Micro-units and anchors: the parts of a text that fade, and the words in it that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase

MASK = "xxx"  # what a blurred part of a text reads as
UNIT_STABILITY = 600.0  # turns; S of a micro-unit without emotion (design 6)
_DETAIL = 0.5  # of the S of a clause: a name or a number goes before what is told of it


class AnchorKind(str, Enum):
    """Spontaneous: fades four times as slowly. Forced: clear at once, and soon gone."""

    SPONTANEOUS = "spontaneous"
    FORCED = "forced"


@dataclass(frozen=True, slots=True)
class Retention:
    """How clear something was when it was last touched, and how fast it fades from then on."""

    visibility: float  # 0..1, as of `touched`
    stability: float  # S in turns of the soul's clock
    touched: datetime  # aware
    at_turn: float | None = None  # exchanges lived at `touched`; None: unknown

    def __post_init__(self) -> None:
        if not 0.0 <= self.visibility <= 1.0:
            raise Unprocessable(
                phrase(
                    "visibility_range",
                    "visibility {visibility} is outside 0..1",
                    visibility=self.visibility,
                ),
                field="visibility",
            )
        if not self.stability > 0.0:
            raise Unprocessable(
                phrase(
                    "stability_range",
                    "stability {stability} is not above 0",
                    stability=self.stability,
                ),
                field="stability",
            )


@dataclass(frozen=True, slots=True)
class UnitSpan:
    """Characters `start` to `end` of a text, which fade as one; units may nest and overlap."""

    start: int
    end: int
    gist: str = ""  # what is told instead once the words are blurred
    is_detail: bool = False  # a name, number, place or quote
    salience: float = 0.5  # 0..1; the more a part says, the slower it fades


@dataclass(frozen=True, slots=True)
class MicroUnit:
    """A part of one memory's text with its present state."""

    span: UnitSpan
    retention: Retention


@dataclass(frozen=True, slots=True)
class Anchor:
    """Words of one memory's text that outlast what stands around them."""

    text: str
    kind: AnchorKind
    retention: Retention


# S of an anchor over that of the unit it stands in: it outlasts its sentence, or is soon gone.
ANCHOR_STABILITY = {AnchorKind.SPONTANEOUS: 4.0, AnchorKind.FORCED: 0.3}


def unit_stability(span: UnitSpan, emotion: float) -> float:
    """S, in turns, of a unit that was never recalled; `emotion` 0..1 is the memory's strongest.

    A salience of 0 .. 1 makes it half to one and a half times as much, so that the parts of a text do not
    go all at once.
    """
    detail = _DETAIL if span.is_detail else 1.0
    return UNIT_STABILITY * (1.0 + emotion) * (0.5 + span.salience) * detail


def anchor_stability(kind: AnchorKind, emotion: float) -> float:
    """S, in turns, of an anchor that was never recalled."""
    return UNIT_STABILITY * (1.0 + emotion) * ANCHOR_STABILITY[kind]
