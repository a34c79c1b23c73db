"""Responses of the roulette."""

from __future__ import annotations

from soulmem.engine.recall.pushes import Draws
from soulmem.server.responses.common import ResponseBody


class DrawsResponse(ResponseBody, frozen=True):
    """How often each memory came, by id, and the weight of each that may come."""

    counts: dict[str, int]
    weights: dict[str, float]


def draws_response(draws: Draws) -> DrawsResponse:
    """The draws."""
    return DrawsResponse(
        counts={str(key): count for key, count in draws.counts.items()},
        weights={str(key): weight for key, weight in draws.weights.items()},
    )
