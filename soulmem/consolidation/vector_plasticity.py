"""Teaching the memory vector of an edge: by how much a query is added to it or taken out of it."""

from __future__ import annotations

from math import ceil, cos, pi, sqrt

# 0..1, part of <q, m> that an edge loses which was offered and not used. A third of what a first use
# gives (.64), as `eta_d` is a third of `eta`.
IDLE_LOSS = 0.2
# 0..1, least share of an edge that is taught: those of a path that hardly counted need no vector
LEAST_SHARE = 0.1


def growth(length: float) -> float:
    """What one use adds to a memory vector of that length: 2/pi * cos(pi/2 * length), 0 from 1 on (design 4.7)."""
    return 2.0 / pi * cos(pi / 2.0 * min(1.0, length))


def strengthened(length: float, match: float, times: float) -> float:
    """How much of the unit query q a memory vector m gains by `times` uses, >= 0.

    length  of m
    match   <q, m>
    """
    total = 0.0
    for number in range(ceil(times)):
        part = min(1.0, times - number)
        longer = sqrt(max(0.0, length**2 + 2.0 * match * total + total**2))
        total += part * growth(longer)
    return total


def weakened(match: float, rate: float) -> float:
    """How much of q it loses, <= 0: the part `rate`, 0..1, of <q, m>. Nothing across q changes."""
    return -rate * max(0.0, match)
