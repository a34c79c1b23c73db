"""The worthiest memories of a region, which a replay goes over. Compute thread only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.rehearsal import RehearsalParams, rehearsal_worth
from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only


@compute_only
def worthiest(
    mind: Mind, rows: NDArray[np.int64], extra: int, params: RehearsalParams
) -> list[MemoryId]:
    """The worthiest of the memories at these rows, best first, at most `params.memories`.

    `extra` are turns of a moved clock.
    """
    ages = mind.exchange_ages(None, extra, rows).astype(np.float64)
    uses = mind.recalls.uses(mind.size)[rows].astype(np.int64)
    value = rehearsal_worth(mind.columns.importance[rows], uses, ages, params)
    best = np.lexsort((rows, -value))[: params.memories]
    return mind.ids_at(rows[best].tolist())
