"""How do text, walk and weight make one score, by which memories rank?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.warm import kernels
from soulmem.retrieval.fusion import standardise

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ScoreParams:
    """How the voices add up."""

    walk: float = (
        1.0  # of z(sqrt(walk)) beside z(text); .5 to 2 score alike on eight sets
    )
    least: float = 0.6  # 0..1, share of that which a walk keeps however common the names it began at
    common: float = 15.0  # memories that mention a name when half of the rest is gone
    floor: float = 0.4  # factor of a memory of weight 0; design 4.4 starts at .7 + .6 * weight, with which
    slope: float = 1.2  # chance differences of near-equal texts still outweighed importance too often
    mood: float = 0.6  # what a memory gains that fits the mood wholly


def weight_factor(
    weight: Floats, fit: Floats | None = None, params: ScoreParams | None = None
) -> Floats:
    """The factor by which each memory counts, float32[n], > 0.

    weight  0..1, see `weights.weight`
    fit     0..1, see `mood.fit`; None when there is no mood
    """
    p = params or ScoreParams()
    factor = p.floor + p.slope * weight
    if fit is not None:
        factor = factor * (1.0 + p.mood * fit)
    return factor.astype(np.float32)


def walk_weight(
    document_frequency: NDArray[np.floating], params: ScoreParams | None = None
) -> float:
    """What the walk counts, 0..walk, by the rarest name it began at.

        walk * (least + (1 - least) / (1 + (df / common)^2))

    document_frequency  float[k]  how many memories mention each name of the cue; 0 where it leads nowhere

    A rare name picks out what it leads to; one that half of all memories mention says little about any, and
    text alone (k = 0) leads where text already is: there the walk is one voice among others.
    """
    p = params or ScoreParams()
    frequencies = document_frequency[document_frequency > 0]
    specific = (
        1.0 / (1.0 + (float(frequencies.min()) / p.common) ** 2)
        if frequencies.size
        else 0.0
    )
    return p.walk * (p.least + (1.0 - p.least) * specific)


def scaled(score: Floats, factor: Floats) -> Floats:
    """Standardised scores by their factor, float32[n]: a greater factor never lowers, whatever the sign."""
    with np.errstate(invalid="ignore"):
        return np.where(score > 0, score * factor, score / factor).astype(np.float32)


def combine(
    text: Floats,
    walked: Floats,
    visible: Bools,
    factor: Floats | None = None,
    params: ScoreParams | None = None,
    started: Floats | None = None,
) -> Floats:
    """The score by which memories rank, float32[n], -inf where not visible.

        weighed(z(text) + walk * trust * z(sqrt(walked)), factor)

    text     float32[n]  of `fusion.fuse`
    walked   float32[n]  how often the walk is found at each row, >= 0; 0 where it did not come
    factor   float32[n]  of `weight_factor`; None where all weigh alike
    started  float32[n]  how much of it started at each, sum 1; None trusts the walk wholly

    z is taken over the visible rows. Where no walk took place the text alone speaks. trust = min(1, twice
    what is found elsewhere than it started): a walk that went nowhere would only repeat the text.
    """
    p = params or ScoreParams()
    trust = (
        1.0
        if started is None
        else min(1.0, 2.0 * walk_share_elsewhere(walked, started))
    )
    compiled = kernels()
    if compiled is None:
        voices = standardise(text, visible)
        voices += np.float32(p.walk * trust) * standardise(
            np.sqrt(walked).astype(np.float32), visible
        )
        voices[~visible] = -np.inf
    else:
        voices = np.empty(text.shape, np.float32)
        group = np.ascontiguousarray(visible).view(np.uint8)
        compiled.add_walk(text, walked, group, p.walk * trust, voices)
    return voices if factor is None else scaled(voices, factor)


def walk_share_elsewhere(walked: Floats, started: Floats) -> float:
    """0..1: how much of the walk is found elsewhere than it started; both sum to 1 at most."""
    return min(max(1.0 - float(np.minimum(walked, started).sum()), 0.0), 1.0)
