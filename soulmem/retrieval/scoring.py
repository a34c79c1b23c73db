"""How do text, walk and weight make one score, by which memories rank?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.retrieval.fusion import standardise

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ScoreParams:
    """How the voices add up."""

    walk: float = 1.0  # of z(sqrt(walk)) beside z(text); .5 to 2 score alike on eight sets
    floor: float = 0.5  # factor of a memory of weight 0; design 4.4 starts at .7 + .6 * weight, with which
    slope: float = 1.0  # chance differences of near-equal texts still outweighed importance too often
    mood: float = 0.6  # what a memory gains that fits the mood wholly


def emphasis(weight: Floats, fit: Floats | None = None, params: ScoreParams | None = None) -> Floats:
    """The factor by which each memory counts, float32[n], > 0.

    weight  0..1, see `weights.weight`
    fit     0..1, see `mood.fit`; None when there is no mood
    """
    p = params or ScoreParams()
    factor = p.floor + p.slope * weight
    if fit is not None:
        factor = factor * (1.0 + p.mood * fit)
    return factor.astype(np.float32)


def weighed(score: Floats, factor: Floats) -> Floats:
    """Standardised scores by their factor, float32[n]: a greater factor never lowers, whatever the sign."""
    with np.errstate(invalid="ignore"):
        return np.where(score > 0, score * factor, score / factor).astype(np.float32)


def combine(
    text: Floats,
    walked: Floats,
    visible: Bools,
    factor: Floats,
    params: ScoreParams | None = None,
) -> Floats:
    """The score by which memories rank, float32[n], -inf where not visible.

        weighed(z(text) + walk * z(sqrt(walked)), factor)

    text    float32[n]  of `fusion.fuse`
    walked  float32[n]  how often the walk is found at each row, >= 0; 0 where it did not come
    z is taken over the visible rows. Where no walk took place the text alone speaks.
    """
    p = params or ScoreParams()
    voices = standardise(text, visible) + p.walk * standardise(np.sqrt(walked).astype(np.float32), visible)
    return np.where(visible, weighed(voices.astype(np.float32), factor), -np.inf).astype(np.float32)
