"""The forgetting curve of edges and texts: what is left after some turns, and how spaced recalls flatten it."""

from __future__ import annotations

from enum import Enum
from math import exp, log, log1p

SPACING = 1.8  # factor of S at a use ..
SPACED = 10.0  # .. at least so many turns after the last one (design 6)
LONGEST = 1e6  # turns; upper limit of S


class Decay(str, Enum):
    """Exponential: R = exp(-t/S). Hybrid: the more spaced recalls it had, the more a power law."""

    EXPONENTIAL = "exponential"
    HYBRID = "hybrid"


def retained(
    elapsed: float,
    stability: float,
    growth: float = 1.0,
    decay: Decay = Decay.EXPONENTIAL,
) -> float:
    """The share, 0..1, that is left `elapsed` turns, >= 0, after the last touch.

        exponential  R = exp(-t / S)
        hybrid       R = (1 + a t / S)^(-1 / a), a = 1 - 1 / growth

    stability  S in turns, > 0
    growth     S over the S it began with, >= 1

    At growth 1 both are the same, and both fall by dt / S at first. The more S has grown, the slower is
    the tail of the hybrid curve.
    """
    power = _power(growth, decay)
    if power <= 0.0:
        return exp(-elapsed / stability)
    return exp(-log1p(power * elapsed / stability) / power)


def elapsed_until(
    share: float,
    stability: float,
    growth: float = 1.0,
    decay: Decay = Decay.EXPONENTIAL,
) -> float:
    """The turns, >= 0, after which no more than `share`, above 0 and at most 1, is left; inverse of `retained`."""
    power = _power(growth, decay)
    if power <= 0.0:
        return -stability * log(share)
    return float(stability * (share**-power - 1.0) / power)


def _power(growth: float, decay: Decay) -> float:
    """The a of the hybrid curve, 0..1; 0 where the curve is exponential."""
    return 1.0 - 1.0 / growth if decay is Decay.HYBRID and growth > 1.0 else 0.0


def stability_after(stability: float, elapsed: float) -> float:
    """S, in turns, after a use `elapsed` turns after the last one: it grows at spaced uses."""
    if elapsed < SPACED:
        return stability
    return max(stability, min(LONGEST, stability * SPACING))
