"""The roulette over weights, and when a memory may come to mind by itself (robot notes, design 9)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.soul import Push
from soulmem.retrieval.action_selection import draw_number

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


# When a memory may come to mind by itself; design 9.
# Exchanges from one to the next at least; 0 where none comes
GAPS = {Push.OFF: 0, Push.RARE: 20, Push.OFTEN: 8}
CALM = 0.6  # 0..1, from this intensity of a feeling on none comes
# 0..1, importance of plain talk (design 2): what is not above it is not worth telling unasked.
PLAIN = 0.2


def drawn(weights: Doubles, numbers: Doubles) -> Ints:
    """For each number, 0..1 (1 excluded), the position that it draws: each by its share of the weights.

    No weight may be below 0, and their sum must be above 0.
    """
    bounds = np.cumsum(weights)
    positions = np.searchsorted(bounds, numbers * bounds[-1], side="right")
    last = int(np.flatnonzero(weights)[-1])
    return np.minimum(np.asarray(positions, np.int64), last)


def first_moment(story: str, exchange: int, gap: int) -> int | None:
    """The first exchange of the span around `exchange` at which a memory may come; None outside of a span.

    Spans are a quarter of `gap` long and begin at random, by `story`, one and a half
    times `gap` from one to the next on average: one in each keeps `gap` exchanges
    between any two.
    """
    half = gap // 4
    period = gap + 2 * half
    number = exchange // period
    first = number * period + int(draw_number(story, str(number), "push") * (half + 1))
    return first if first <= exchange <= first + half else None
