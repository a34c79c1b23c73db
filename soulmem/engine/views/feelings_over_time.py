"""Feelings over time: what a soul felt from the first of its scenes to the last. Compute thread only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.calendar import at_seconds
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.situation import Emotion
from soulmem.engine.api.requests import MemoryFilter, Part
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.listed_rows import listed_rows
from soulmem.language.feelings import pleasantness

_STRONGEST = 8  # episodes that speak for a stretch, so that one of many is as quick as one of few


@dataclass(frozen=True, slots=True)
class FeltStretch:
    """What the soul felt most in a stretch of its episodes.

    start, end  when its first episode and its last one took place
    balance     -1..1, mean of pleasant minus unpleasant intensity over the strongest feelings; 0 without any
    feeling     that of the greatest sum of intensities, with their mean; None when nothing was felt
    memory      the episode in which that was strongest
    """

    start: datetime
    end: datetime
    balance: float
    feeling: Emotion | None
    memory: MemoryId | None


@compute_only
def feelings_over_time(mind: Mind, about: MemoryId | None, stretches: int) -> list[FeltStretch]:
    """The episodes in the order of time, in stretches that have equally many of them.

    At most so many stretches, fewer where there are fewer episodes. `about`: a concept, only episodes that
    mention it. With 100,000 episodes and 24 stretches some 30 ms.
    """
    wanted = MemoryFilter(mind.soul.id, MemoryKind.EPISODE, part=Part(about=about))
    rows = np.flatnonzero(listed_rows(mind, wanted))
    rows = rows[np.argsort(mind.columns.happened[rows], kind="stable")]
    parts = np.array_split(rows, max(1, min(stretches, rows.size)))
    return [_stretch(mind, part) for part in parts if part.size]


def felt_most(memories: Iterable[Memory]) -> Emotion | None:
    """The feeling of the soul with the greatest sum of intensities, with their mean; None without any."""
    intensities: defaultdict[str, list[float]] = defaultdict(list)
    for memory in memories:
        for emotion in memory.situation.emotions:
            intensities[emotion.label].append(emotion.intensity)
    if not intensities:
        return None
    label = min(intensities, key=lambda key: (-sum(intensities[key]), key))
    values = intensities[label]
    return Emotion(label, sum(values) / len(values))


def _stretch(mind: Mind, rows: NDArray[np.int64]) -> FeltStretch:
    """A stretch of episodes in the order of time."""
    columns = mind.columns
    felt = rows[columns.feeling[rows] > 0.0]
    felt = felt[np.argsort(-columns.feeling[felt], kind="stable")[:_STRONGEST]]
    memories = list(mind.memories.many(mind.ids_at(felt.tolist())))
    feeling = felt_most(memories)
    return FeltStretch(
        start=_moment(columns.happened[rows[0]]),
        end=_moment(columns.happened[rows[-1]]),
        balance=sum(map(_balance, memories)) / max(1, len(memories)),
        feeling=feeling,
        memory=None if feeling is None else _most_of(feeling.label, memories),
    )


def _balance(memory: Memory) -> float:
    """The strongest pleasant feeling minus the strongest unpleasant one, -1..1."""
    strongest = {-1: 0.0, 0: 0.0, 1: 0.0}
    for emotion in memory.situation.emotions:
        sign = pleasantness(emotion.label)
        strongest[sign] = max(strongest[sign], emotion.intensity)
    return strongest[1] - strongest[-1]


def _most_of(label: str, memories: Sequence[Memory]) -> MemoryId:
    """The first of the memories in which this feeling is strongest."""

    def intensity(memory: Memory) -> float:
        emotions = memory.situation.emotions
        return max((e.intensity for e in emotions if e.label == label), default=0.0)

    return max(memories, key=intensity).id


def _moment(seconds: float) -> datetime:
    return at_seconds(float(seconds))
