"""The messages that leave when a soul has more than it keeps: those of least weight. Compute thread only.

None leaves before a digest tells its day.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import DERIVED, Memory, MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.upkeep.prunable import (
    PRUNING,
    is_kept,
    tellings,
    turns_unused,
    unprotected_rows,
)
from soulmem.engine.views.concept_activation import memory_strengths
from soulmem.engine.views.digested_days import rows_of_digested_days
from soulmem.graph.association import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.retrieval.weights import MemoryFactors, WeightParams, memory_weight

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_DERIVED = [ORIGINS.index(origin) for origin in DERIVED]


@compute_only
def least_weighted(mind: Mind, extra: int, most: int) -> list[MemoryId]:
    """At most `most` of the messages beyond those that the soul keeps, the least weight first.

    What was recalled within `unused` turns comes last, as a recall of late lowers the weight (refractory), and
    what was told several times: it stands for the others.
    Anchors are not looked at. About 100 ms for 100,000 messages; a soul within its limit takes 1 ms.
    """
    searched = _searched_messages(mind)
    over = int(np.count_nonzero(searched)) - mind.soul.settings.keep
    if over <= 0:
        return []
    rows = np.flatnonzero(searched & _may_leave(mind))
    weight = _weights(mind, rows, extra)
    weight[_recalled_of_late(mind, rows, extra)] += 1.0
    weight[tellings(mind)[rows] > 1] += 1.0
    least = np.argsort(weight, kind="stable")[: min(over, most)]
    return mind.ids_at(rows[least].tolist())


@compute_only
def still_surplus(mind: Mind, keys: Sequence[MemoryId]) -> list[Memory]:
    """Those of these messages that are present, unprotected and not kept by an anchor or recalls of late.

    No more than are too many now.
    """
    searched = _searched_messages(mind)
    over = int(np.count_nonzero(searched)) - mind.soul.settings.keep
    may = searched & _may_leave(mind)
    out: list[Memory] = []
    for key in keys:
        row, memory = mind.row(key), mind.memories.get(key)
        if len(out) >= over or row is None or memory is None or not may[row]:
            continue
        if not is_kept(mind, memory):
            out.append(memory)
    return out


def _searched_messages(mind: Mind) -> Bools:
    """Rows of episodes from chats that are searched, bool[rows]."""
    n, columns = mind.size, mind.columns
    from_chats = np.isin(columns.origin[:n], _DERIVED) & (columns.kind[:n] == _EPISODE)
    return np.asarray(from_chats & columns.searched[:n])


def _may_leave(mind: Mind) -> Bools:
    """Rows that nothing protects, that say nothing of importance, and whose day a digest tells; bool[rows]."""
    light = mind.columns.importance[: mind.size] < PRUNING.importance
    return unprotected_rows(mind) & light & rows_of_digested_days(mind)


def _weights(mind: Mind, rows: Ints, extra: int) -> Floats:
    """The weight of each of these memories, 0..1, with no tag asked for; see `retrieval.weights`."""
    columns = mind.columns
    factors = MemoryFactors(
        importance=columns.importance[rows].astype(np.float64),
        feeling=columns.feeling[rows].astype(np.float64),
        retention=memory_strengths(mind, rows, extra),
        uses=mind.recalls.uses(mind.size)[rows].astype(np.float64),
        since_use=mind.recalls.since_use(rows, mind.lived_turns(extra)),
        content=np.zeros(rows.size),
        feedback=mind.opinions.scores(rows),
    )
    return memory_weight(factors, WeightParams().of_soul(mind.soul.settings.weights))


def _recalled_of_late(mind: Mind, rows: Ints, extra: int) -> Ints:
    """Places in `rows` of what was recalled within `unused` turns."""
    recalled = np.flatnonzero(mind.recalls.uses(mind.size)[rows])
    unused = turns_unused(mind, rows[recalled], extra)
    return recalled[unused < PRUNING.unused]
