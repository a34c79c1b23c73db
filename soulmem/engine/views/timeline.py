"""Timeline: memories by time, in order, without sorting all of them. Compute thread only."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind

# Microseconds since 1970 and id of a memory: its place in the order.
TimelinePosition = tuple[int, str]


def position_of(memory: Memory) -> TimelinePosition:
    """The position of the memory in the timeline."""
    return int(memory.happened.timestamp() * 1_000_000), str(memory.id)


def overlapping(
    mind: Mind,
    start: datetime | None,
    end: datetime | None,
    after: TimelinePosition | None,
) -> Iterator[Memory]:
    """Memories in use that overlap `start` (inclusive) .. `end` (exclusive), oldest first.

    Digests only where their whole period lies within: what a week held is nothing of one of its days.
    Only those behind the position `after`. Triggers and bare names of the card have no
    time. With 100,000 memories the first takes some 5 ms, each thousand 1 ms more.
    """
    n, columns = mind.size, mind.columns
    shown = columns.in_use[:n] & columns.active[:n]
    digests = mind.digest_rows()
    if end is not None:
        shown &= columns.happened[:n] < end.timestamp()
        shown &= ~digests | (columns.ended[:n] < end.timestamp())
    if start is not None:
        shown &= columns.ended[:n] >= start.timestamp()
        shown &= ~digests | (columns.happened[:n] >= start.timestamp())
    if after is not None:
        shown &= columns.happened[:n] >= (after[0] - 1) / 1e6
    rows = np.flatnonzero(shown)
    happened = columns.happened[rows]
    order = np.argsort(happened)
    for tie in _ties(happened[order]):
        memories = [mind.memory_at(int(row)) for row in rows[order[tie]]]
        for memory in sorted(memories, key=position_of):
            if after is None or position_of(memory) > after:
                yield memory


def newest_first(mind: Mind, which: NDArray[np.bool_]) -> Iterator[Memory]:
    """The memories at these rows, bool[rows]: the latest first, those of one moment by id."""
    rows = np.flatnonzero(which)
    happened = -mind.columns.happened[rows]
    order = np.argsort(happened)
    for tie in _ties(happened[order]):
        # Of ten thousand that were imported in one moment only those that are asked for are read
        for key in sorted(mind.ids_at(rows[order[tie]].tolist())):
            row = mind.row(key)
            assert row is not None  # it had one a moment ago
            yield mind.memory_at(row)


def _ties(ascending: NDArray[np.float64]) -> Iterator[slice]:
    """Slices of runs of equal values."""
    bounds = [0, *(np.flatnonzero(np.diff(ascending)) + 1).tolist(), ascending.size]
    return (slice(a, b) for a, b in pairwise(bounds) if a < b)
