"""Overview: how much a soul remembers, and what it felt last. Compute thread only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.situation import Emotion
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.arcs import MEMORY_KINDS

_EPISODES = [
    MEMORY_KINDS.index(kind)
    for kind in (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE, MemoryKind.NOTE)
]
_ACTION = MEMORY_KINDS.index(MemoryKind.ACTION)
_LATEST = 6  # episodes; the mood of a recall is of as many messages


@dataclass(frozen=True, slots=True)
class Overview:
    """Numbers of memories in use, and the latest feeling of the soul.

    memories   episodes, kinds of episodes, notes and facts
    permanent  of any kind
    today      memories that took place within the last day of the wall clock
    felt       the latest of the last episodes in which the soul felt something; None without one
    """

    memories: int
    permanent: int
    today: int
    habits: int
    felt: Memory | None
    feeling: Emotion | None


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows in use that are told, and those of them that are episodes."""

    in_use: NDArray[np.bool_]
    episodes: NDArray[np.bool_]


@compute_only
def overview_of(mind: Mind, current_time: float) -> Overview:
    """The overview of a soul; `current_time` in POSIX seconds."""
    rows, columns, n = _rows(mind), mind.columns, mind.size
    recent = columns.happened[:n] > current_time - 86_400.0
    felt = _latest_feeling(mind, rows)
    return Overview(
        memories=int(rows.episodes.sum()) + len(mind.facts),
        permanent=int((rows.in_use & columns.permanent[:n]).sum()),
        today=int((rows.episodes & recent).sum()),
        habits=int((rows.in_use & (columns.kind[:n] == _ACTION)).sum()),
        felt=felt,
        feeling=None if felt is None else _strongest(felt),
    )


def _rows(mind: Mind) -> _Rows:
    columns, n = mind.columns, mind.size
    in_use = columns.in_use[:n] & columns.live[:n]
    return _Rows(in_use, in_use & np.isin(columns.kind[:n], _EPISODES))


def _latest_feeling(mind: Mind, rows: _Rows) -> Memory | None:
    """The latest of the last episodes with a feeling of the soul."""
    places = np.flatnonzero(rows.episodes)
    ended = mind.columns.ended[places]
    latest = places[np.argsort(-ended, kind="stable")[:_LATEST]]
    for row in latest.tolist():
        memory = mind.memory_at(row)
        if memory.strongest_emotion > 0.0:
            return memory
    return None


def _strongest(memory: Memory) -> Emotion:
    return max(memory.situation.emotions, key=lambda emotion: emotion.intensity)
