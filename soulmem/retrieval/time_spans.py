"""Matches memories with the time spans that a query names, and spreads a selection over a span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from soulmem.kernels.arrays import Bools, Float32s, Float64s


@dataclass(frozen=True, slots=True)
class TimeSpanParams:
    """How much a time that the query names counts."""

    # standard deviations added to the score of a memory of that time
    prefer: float = 1.5
    stated: float = 0.3  # 0..1, factor where the query states the time ("yesterday I was ill") instead of asking
    # 0..1, factor of the confidence for each further interpretation that has memories
    next: float = 0.7
    # slots for the best of that time, where the query also has other content
    reserved_slots: int = 2
    sure: float = 0.5  # 0..1, least confidence for reserved slots
    # length from which a text can represent its part of a span
    worth_tokens: float = 40.0


def overlaps_span(happened: Float64s, ended: Float64s, start: float, end: float) -> Bools:
    """Whether each memory overlaps start (inclusive) .. end (exclusive), bool[n]; all POSIX seconds."""
    return np.asarray((happened < end) & (np.maximum(ended, happened) >= start))


def span_confidence(
    happened: Float64s,
    ended: Float64s,
    eligible: Bools,
    spans: Sequence[tuple[float, float]],
    confidence: float,
    params: TimeSpanParams | None = None,
) -> Float32s:
    """Confidence that each row lies in the time meant, float32[n], 0..confidence.

    spans  possible interpretations, the likeliest first; those without an eligible row are ignored
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


def spread_over_time(happened: Float64s, worth: Float32s, count: int) -> list[int]:
    """Positions of at most `count` rows that cover every part of their time, in the order of presentation.

    The time from the first to the last is cut into `count` equal parts. The row of highest `worth` of each
    part comes first, ordered by worth; then the second of each part, and so on.
    """
    if not happened.size or count < 1:
        return []
    first, last = float(happened.min()), float(happened.max())
    width = (last - first) / count
    part = (
        np.minimum((happened - first) // width, count - 1) if width > 0 else np.zeros(happened.size)
    )
    order = np.lexsort((happened, -worth))  # descending worth
    turn = np.zeros(happened.size, np.int64)
    seen: dict[float, int] = {}
    for position in order.tolist():
        turn[position] = seen[part[position]] = seen.get(part[position], -1) + 1
    return [int(position) for position in order[np.argsort(turn[order], kind="stable")]][:count]
