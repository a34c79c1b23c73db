"""Which messages are of a day that a digest tells: what leaves of it leaves a trace. Compute thread only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.derivations import Work
from soulmem.domain.digests import Period
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryState
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only

Bools = NDArray[np.bool_]


@compute_only
def rows_of_digested_days(mind: Mind) -> Bools:
    """The rows of messages whose day has a digest in use, bool[rows]. 20 ms for 50,000 messages."""
    told = np.zeros(mind.size, np.bool_)
    for derivation in mind.derivations:
        if derivation.work is not Work.DIGEST:
            continue
        digest = mind.memories.get(MemoryId(derivation.products[0].id))
        if digest is None or digest.state is not MemoryState.ACTIVE:
            continue
        if digest.situation.period == Period.DAY:
            rows = [mind.row(key) for key in derivation.read]
            told[[row for row in rows if row is not None]] = True
    return told
