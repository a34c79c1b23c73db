"""Response of the overview of a soul."""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from soulmem.engine.views.listed_rows import Density
from soulmem.engine.views.overview import Overview
from soulmem.server.responses.common import ResponseBody


class FeltResponse(ResponseBody, frozen=True):
    """What the soul felt last, 0..1, and in which memory."""

    label: str
    intensity: float
    memory: str
    text: str


class OverviewResponse(ResponseBody, frozen=True):
    """Numbers of memories in use.

    `memories` are episodes, kinds of episodes, notes and facts; `today` took place within the last day.
    """

    memories: int
    permanent: int
    today: int
    habits: int
    felt: FeltResponse | None


def overview_response(seen: Overview) -> OverviewResponse:
    """The overview of a soul."""
    felt = None
    if seen.felt is not None and seen.feeling is not None:
        felt = FeltResponse(
            label=seen.feeling.label,
            intensity=seen.feeling.intensity,
            memory=seen.felt.id,
            text=seen.felt.text,
        )
    return OverviewResponse(
        memories=seen.memories,
        permanent=seen.permanent,
        today=seen.today,
        habits=seen.habits,
        felt=felt,
    )


class ShareResponse(ResponseBody, frozen=True):
    """How many memories a day, week or month has; `to` is exclusive."""

    start: datetime = field(name="from")
    end: datetime = field(name="to")
    count: int


class DensityResponse(ResponseBody, frozen=True):
    """How many memories lie in equal shares of the time between; without any, `from` and `to` are null.

    `periods` are those that have any, the earliest first.
    """

    start: datetime | None = field(name="from")
    end: datetime | None = field(name="to")
    counts: list[int]
    periods: list[ShareResponse]


def density_response(density: Density) -> DensityResponse:
    """How memories lie along time."""
    return DensityResponse(
        start=density.start,
        end=density.end,
        counts=list(density.counts),
        periods=[ShareResponse(p.start, p.end, p.count) for p in density.periods],
    )
