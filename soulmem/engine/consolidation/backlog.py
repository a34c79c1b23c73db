"""Tells old stretches of a chat, which nobody asked to consolidate, from those that were just played.

Compute thread only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from soulmem.engine.consolidation.plan import PlannedCall
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
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
def is_backlog(
    mind: Mind, call: PlannedCall, current_time: datetime, params: BacklogParams
) -> bool:
    """Whether any message that the call reads came in a bulk sync, or has waited too long."""
    branch = mind.branches.branch(call.chat)
    keys = (*(branch.order if branch is not None else ()), *call.read)
    rows: dict[str, int] = {}
    for key in keys:
        row = mind.row(key)
        if row is not None:
            rows[key] = row
    created = mind.columns.created
    times, counts = np.unique(created[list(rows.values())], return_counts=True)
    bulk_times = times[counts > params.at_once]
    read_times = created[[rows[key] for key in call.read if key in rows]]
    distances = np.abs(read_times[:, None] - bulk_times[None, :])
    if (distances <= params.around * _MINUTE).any():
        return True
    oldest = microseconds(current_time) - params.days * _DAY
    return bool((read_times < oldest).any())
