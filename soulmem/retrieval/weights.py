"""The weight of a memory independent of the query: mean of six factors (design 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from soulmem.domain.soul import FACTORS
from soulmem.kernels.arrays import Float32s, Float64s


@dataclass(frozen=True, slots=True)
class WeightParams:
    """The share of each factor, each >= 0; design 9 (robot notes). A soul may set its own."""

    importance: float = 0.3
    recency: float = 0.2
    uses: float = 0.1
    refractory: float = 0.2
    content: float = 0.1
    feedback: float = 0.1
    # uses, or exchanges since the last use, at which a factor reaches 63 %
    pace: float = 5.0

    def of_soul(self, own: Mapping[str, float]) -> WeightParams:
        """The shares of a soul: its own, with 0 for those it does not set; these defaults where it sets none."""
        if not own:
            return self
        return replace(self, **{name: max(0.0, own.get(name, 0.0)) for name in FACTORS})


@dataclass(frozen=True, slots=True)
class MemoryFactors:
    """Inputs of the weight of n memories; every array has shape (n,)."""

    importance: Float64s  # 0..1
    feeling: Float64s  # 0..1, intensity of the strongest emotion in it
    retention: Float64s  # 0..1, R of design 6; 1 where nothing fades
    uses: Float64s  # >= 0, recalls that were learned from
    since_use: Float64s  # exchanges since the last use, inf where there was none
    content: Float64s  # 0..1, share of the requested tags that it has
    feedback: Float64s  # 0..1, starts at .5


def memory_weight(facets: MemoryFactors, params: WeightParams | None = None) -> Float32s:
    """The weight of each memory, float32[n], 0..1: the mean of the factors by their shares.

        importance   1 - (1 - importance) * (1 - feeling)
        uses         1 - e^(-uses / pace)
        refractory   1 - e^(-since_use / pace)

    Where all shares are 0 every weight is .5.
    """
    p = params or WeightParams()
    f = facets
    parts = (
        (p.importance, 1.0 - (1.0 - f.importance) * (1.0 - f.feeling)),
        (p.recency, f.retention),
        (p.uses, 1.0 - np.exp(-f.uses / p.pace)),
        (p.refractory, 1.0 - np.exp(-f.since_use / p.pace)),
        (p.content, f.content),
        (p.feedback, f.feedback),
    )
    total = sum(share for share, _ in parts)
    if total <= 0:
        return np.full(f.importance.shape, 0.5, np.float32)
    mean = sum((share * value for share, value in parts), np.zeros(f.importance.shape)) / total
    return np.clip(mean, 0.0, 1.0).astype(np.float32)
