"""Response of what a soul felt over time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec import field

from soulmem.domain.situation import Emotion
from soulmem.engine.views.feelings_over_time import FeltStretch
from soulmem.server.responses.common import ResponseBody


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
