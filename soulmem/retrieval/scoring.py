"""The rank score of memories, from text score, walk score and weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Bools, Float32s
from soulmem.kernels.warm import kernels


@dataclass(frozen=True, slots=True)
class ScoreParams:
    """Weights of the terms of the score."""

    # of z(sqrt(walk)) beside z(text); .5 to 2 score alike on eight sets
    walk: float = 1.0
    # The same beside a score of late interaction, which finds by itself most of what a walk finds: at 1 it brought
    # 7 points fewer whole answers into role-play. .1 to .3 score alike.
    walk_beside_tokens: float = 0.15
    # of z(sqrt(what arrives over ordinary words)) beside late interaction; .2 to .4 score alike
    bridge: float = 0.3
    # 0..1, share of `walk` that remains however common the names of the query are
    least: float = 0.6
    # memories that mention a name at which half of the other share is lost
    common: float = 15.0
    # factor of a memory of weight 0; with .7 + .6 * weight (design 4.4)
    floor: float = 0.4
    # differences of near-equal texts outweighed importance too often
    slope: float = 1.2
    # added to the factor, times `fit`, of a memory that fits the mood
    mood: float = 0.6


def weight_factor(
    weight: Float32s, fit: Float32s | None = None, params: ScoreParams | None = None
) -> Float32s:
    """The factor by which each memory counts, float32[n], > 0.

    weight  0..1, see `weights.weight`
    fit     0..1, see `mood.mood_fit`; None when there is no mood
    """
    p = params or ScoreParams()
    factor = p.floor + p.slope * weight
    if fit is not None:
        factor = factor * (1.0 + p.mood * fit)
    return factor.astype(np.float32)


def walk_weight(
    document_frequency: NDArray[np.floating], params: ScoreParams | None = None
) -> float:
    """Weight of the walk beside the text, 0..walk, by the rarest name of the query.

        walk * (least + (1 - least) / (1 + (df / common)^2))

    document_frequency  float[k]  how many memories mention each name of the query; 0 where it leads nowhere

    A walk from a rare name is specific. One from a name that half of all memories mention, or from texts alone
    (k = 0), adds little to the text score.
    """
    p = params or ScoreParams()
    frequencies = document_frequency[document_frequency > 0]
    specific = 1.0 / (1.0 + (float(frequencies.min()) / p.common) ** 2) if frequencies.size else 0.0
    return p.walk * (p.least + (1.0 - p.least) * specific)


def scaled(score: Float32s, factor: Float32s) -> Float32s:
    """Standardised scores times their factor, float32[n]; negative ones are divided, so that a greater factor
    never lowers a score.
    """
    with np.errstate(invalid="ignore"):
        return np.where(score > 0, score * factor, score / factor).astype(np.float32)


def combine(
    text: Float32s,
    walked: Float32s,
    visible: Bools,
    factor: Float32s | None = None,
    params: ScoreParams | None = None,
    started: Float32s | None = None,
) -> Float32s:
    """The rank score, float32[n], -inf where not visible.

        weighed(z(text) + walk * trust * z(sqrt(walked)), factor)

    text     float32[n]  `TextScores.score`
    walked   float32[n]  walk score of each row, >= 0; 0 where the walk did not come
    factor   float32[n]  of `weight_factor`; None: all 1
    started  float32[n]  share of the walk that started at each row, sum 1; None: trust = 1

    z is taken over the visible rows. Without a walk only the text counts. trust = min(1, 2 *
    walk_share_elsewhere): a walk that stays at its start only repeats the text.
    """
    p = params or ScoreParams()
    trust = 1.0 if started is None else min(1.0, 2.0 * walk_share_elsewhere(walked, started))
    score = np.empty(text.shape, np.float32)
    group = np.ascontiguousarray(visible).view(np.uint8)
    kernels(group.size).add_walk(text, walked, group, p.walk * trust, score)
    return score if factor is None else scaled(score, factor)


def walk_share_elsewhere(walked: Float32s, started: Float32s) -> float:
    """Share of the walk, 0..1, that is not at the rows where it started; both arrays sum to at most 1."""
    return min(max(1.0 - float(np.minimum(walked, started).sum()), 0.0), 1.0)
