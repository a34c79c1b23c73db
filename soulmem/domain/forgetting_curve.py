"""The forgetting curve: which share of a strength or visibility is left after some turns, and when."""

from __future__ import annotations

from enum import Enum
from math import exp, log, log1p


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
