"""Which memories are of a time that is asked for, and which of them show every part of it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TimeSpanParams:
    """How much a time counts that the cue asks for."""

    prefer: float = 1.5  # standard deviations that a memory of that time gains; far better ones stay ahead
    stated: float = 0.3  # 0..1, of that where the cue does not ask but tells ("yesterday I was ill")
    next: float = (
        0.7  # 0..1, how much less sure a further reading is that holds something, too
    )
    reserved_slots: int = (
        2  # for the best of that time, where more than the time is asked for
    )
    sure: float = 0.5  # 0..1, from which confidence there are seats
    worth_tokens: float = (
        40.0  # length from which a text says enough to stand for its part of a span
    )


def overlaps_span(happened: Doubles, ended: Doubles, start: float, end: float) -> Bools:
    """Which memories overlap from (inclusive) .. to (exclusive), all POSIX seconds; as the timeline."""
    return np.asarray((happened < end) & (np.maximum(ended, happened) >= start))


def span_confidence(
    happened: Doubles,
    ended: Doubles,
    eligible: Bools,
    spans: Sequence[tuple[float, float]],
    confidence: float,
    params: TimeSpanParams | None = None,
) -> Floats:
    """How surely each row lies in the time meant, float32[n], 0..confidence.

    spans  what may be meant, the likeliest first; of those that hold no eligible row nothing follows
    """
    p = params or TimeSpanParams()
    out = np.zeros(happened.size, np.float32)
    remaining_confidence = confidence
    for start, end in spans:
        in_span = eligible & overlaps_span(happened, ended, start, end)
        if in_span.any():
            out[in_span] = np.maximum(out[in_span], np.float32(remaining_confidence))
            remaining_confidence *= p.next
    return out


def spread_over_time(happened: Doubles, worth: Floats, count: int) -> list[int]:
    """Positions of at most `count` rows that show every part of their time, in the order to be told.

    The time from the first to the last is cut into `count` equal parts; the worthiest row of each part comes
    first, the worthiest part at the front; then the second of each, and so on.
    """
    if not happened.size or count < 1:
        return []
    first, last = float(happened.min()), float(happened.max())
    width = (last - first) / count
    part = (
        np.minimum((happened - first) // width, count - 1)
        if width > 0
        else np.zeros(happened.size)
    )
    order = np.lexsort((happened, -worth))  # the worthiest first
    turn = np.zeros(happened.size, np.int64)
    seen: dict[float, int] = {}
    for position in order.tolist():
        turn[position] = seen[part[position]] = seen.get(part[position], -1) + 1
    return [
        int(position) for position in order[np.argsort(turn[order], kind="stable")]
    ][:count]
