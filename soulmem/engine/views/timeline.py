"""What happened in a span of time, oldest first: a range of columns, cut to a page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind

TimelinePosition = tuple[
    int, str
]  # microseconds since 1970 and id: where a memory stands in the order


def position_of(memory: Memory) -> TimelinePosition:
    """Where the memory stands."""
    return int(memory.happened.timestamp() * 1_000_000), str(memory.id)


def overlapping(
    mind: Mind,
    start: datetime | None,
    end: datetime | None,
    after: TimelinePosition | None,
) -> Iterator[Memory]:
    """Memories in use whose time overlaps from (inclusive) .. to (exclusive), oldest first, behind `after`.

    Triggers and bare names of the card have no time. 100,000 memories take some 5 ms to the first, and 1 ms
    per thousand from there.
    """
    n, columns = mind.size, mind.columns
    shown = columns.in_use[:n] & columns.active[:n]
    if end is not None:
        shown &= columns.happened[:n] < end.timestamp()
    if start is not None:
        shown &= columns.ended[:n] >= start.timestamp()
    if after is not None:
        shown &= columns.happened[:n] >= (after[0] - 1) / 1e6
    rows = np.flatnonzero(shown)
    happened = columns.happened[rows]
    order = np.argsort(happened)
    for at_once in _ties(happened[order]):
        memories = [mind.memory_at(int(row)) for row in rows[order[at_once]]]
        for memory in sorted(memories, key=position_of):
            if after is None or position_of(memory) > after:
                yield memory


def newest_first(mind: Mind, which: NDArray[np.bool_]) -> Iterator[Memory]:
    """The memories of these rows, bool[size]: the latest first, those of one moment by id."""
    rows = np.flatnonzero(which)
    happened = -mind.columns.happened[rows]
    order = np.argsort(happened)
    for at_once in _ties(happened[order]):
        yield from sorted(
            (mind.memory_at(int(row)) for row in rows[order[at_once]]), key=_id
        )


def _id(memory: Memory) -> str:
    return memory.id


def _ties(ascending: NDArray[np.float64]) -> Iterator[slice]:
    """Slices of equal values."""
    bounds = [0, *(np.flatnonzero(np.diff(ascending)) + 1).tolist(), ascending.size]
    return (slice(a, b) for a, b in pairwise(bounds) if a < b)
