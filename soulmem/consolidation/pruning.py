"""How long a text lasts that nobody recalls, in turns of the soul's clock (design 6)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.plasticity import FLOOR, PlasticityParams
from soulmem.domain.usage import Usage

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PruneParams:
    """When a text is put into the bin by itself; design 6."""

    unused: float = 500.0  # turns; no text goes sooner after its last recall
    stability: float = 600.0  # turns; S0 of plain talk
    plain: float = 0.1  # 0..1, importance of plain talk
    floor: float = FLOOR  # 0..1, what is left of a text at its end
    importance: float = 0.6  # 0..1; what matters as much as a promise never goes
    spacing: float = PlasticityParams().spacing
    spaced: float = PlasticityParams().spaced


@dataclass(frozen=True, slots=True)
class TextFactors:
    """What the life of n texts depends on; every array has shape (n,)."""

    importance: Doubles  # 0..1
    tellings: Doubles  # >= 1, how often it was told
    recalls: Doubles  # >= 0, spaced recalls


def lifetimes(
    texts: TextFactors, pace: float, params: PruneParams | None = None
) -> Doubles:
    """Turns without a recall after which each text is forgotten, float64[n].

        unused >= S / pace * ln(1 / floor) * tellings,
        S = stability * (importance / plain)^2 * spacing^recalls

    Its length says nothing. `pace` is the soul's forgetting setting, 0 .. 2; at 0 nothing is ever forgotten.
    """
    p = params or PruneParams()
    if pace <= 0.0:
        return np.full(texts.importance.shape, np.inf)
    weight = (texts.importance / p.plain) ** 2
    stability = p.stability * weight * p.spacing**texts.recalls
    told = np.maximum(texts.tellings, 1.0)
    turns = stability * log(1.0 / p.floor) * told / pace
    return np.asarray(np.maximum(turns, p.unused))


def spaced_recalls(usage: Usage, params: PruneParams | None = None) -> int:
    """How many recalls came at least `spaced` turns after the one that counted before."""
    p = params or PruneParams()
    count, last = 0, None
    for turn in sorted(stamp.turn for stamp in (usage.first, *usage.stamps)):
        if last is None or turn - last >= p.spaced:
            count, last = count + 1, turn
    return count
