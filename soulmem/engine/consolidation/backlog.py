"""Is a stretch of a chat an old one, whose consolidation nobody asked for, or did it just leave the context?

Computes: worker only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from soulmem.engine.consolidation.plan import Task
from soulmem.engine.mind.mind import Mind
from soulmem.graph.columns import microseconds

_DAY = 86_400_000_000  # microseconds
_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True)
class BacklogParams:
    """What counts as old. Nobody reads so many messages at once, or leaves them for so long, by talking."""

    at_once: int = 60  # messages; what a sync brings beyond that was not said just now
    around: float = (
        10.0  # minutes around such a sync: an old chat comes in several pieces
    )
    days: float = 7.0  # that a stretch was left alone, as no model was there


def is_backlog(mind: Mind, task: Task, now: datetime, params: BacklogParams) -> bool:
    """Whether any message that the task reads came with many others, or lies there for days."""
    strand = mind.lineages.strand(task.chat)
    keys = (*(strand.order if strand is not None else ()), *task.read)
    rows = {key: row for key in keys if (row := mind.row(key)) is not None}
    created = mind.columns.created
    times, counts = np.unique(created[list(rows.values())], return_counts=True)
    bulk = times[counts > params.at_once]
    read = created[[rows[key] for key in task.read if key in rows]]
    if (
        bulk.size
        and (np.abs(read[:, None] - bulk[None, :]) <= params.around * _MINUTE).any()
    ):
        return True
    return bool((read < microseconds(now) - params.days * _DAY).any())
