"""Tells old stretches of a chat, which nobody asked to consolidate, from those that were just played.

Compute thread only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.engine.consolidation.plan import PlannedCall
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.columns import microseconds

_DAY = 86_400_000_000  # microseconds
_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True)
class BacklogParams:
    """What counts as old: more messages at once, or a longer wait, than live chat brings."""

    at_once: int = 60  # most messages of one sync in live chat
    around: float = 10.0  # minutes around a larger sync: a chat comes in pieces
    days: float = 7.0  # longest wait of a stretch, for example without a model


@compute_only
def is_old_digest(
    mind: Mind, digest: MemoryId, current_time: datetime, params: BacklogParams
) -> bool:
    """Whether messages of a digest came with so many others, or none of them was stored for so long.

    A few days that come at once are a few calls. A month has waited when its last message has.
    """
    created = mind.columns.created
    read = [key for d in mind.derivations.of(digest) for key in d.read]
    rows = [row for key in read if (row := mind.row(key)) is not None]
    times = np.unique(created[rows])
    oldest = microseconds(current_time) - params.days * _DAY
    if not times.size or times[-1] < oldest:
        return True
    every = np.sort(created[: mind.size])
    around = int(params.around * _MINUTE)
    together = np.searchsorted(every, times + around, "right")
    together -= np.searchsorted(every, times - around, "left")
    return bool((together > params.at_once).any())


@compute_only
def is_backlog(
    mind: Mind, call: PlannedCall, current_time: datetime, params: BacklogParams
) -> bool:
    """Whether any message that the call reads came in a bulk sync, or has waited too long."""
    branch = mind.branches.branch(call.chat)
    keys = (*(branch.order if branch is not None else ()), *call.read)
    rows = mind.frame().rows.rows_of(keys)
    created = mind.columns.created
    times, counts = np.unique(created[list(rows.values())], return_counts=True)
    bulk_times = times[counts > params.at_once]
    read_times = created[[rows[key] for key in call.read if key in rows]]
    distances = np.abs(read_times[:, None] - bulk_times[None, :])
    if (distances <= params.around * _MINUTE).any():
        return True
    oldest = microseconds(current_time) - params.days * _DAY
    return bool((read_times < oldest).any())
