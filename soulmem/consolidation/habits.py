"""When is something a habit? When it was seen in three scenes; what was seen once or twice is not told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HabitParams:
    """What makes a habit."""

    scenes: int = 3  # that support it; design 5
    apart: int = 6  # messages between two of one chat that count as two scenes: one window of exchanges
    alike: float = 0.5  # 0..1, share of words that two wordings of one habit have in common


def scenes(places: Collection[tuple[str, int]], params: HabitParams) -> int:
    """How many scenes these messages are: each a chat and the place in it."""
    count = 0
    last: tuple[str, int] | None = None
    for chat, at in sorted(places):
        if last is None or chat != last[0] or at - last[1] >= params.apart:
            count += 1
            last = chat, at
    return count


def is_same(one: Sequence[str], other: Sequence[str], params: HabitParams) -> bool:
    """Whether two wordings, given by their words, tell of one habit."""
    mine, theirs = set(one), set(other)
    if not mine or not theirs:
        return False
    return len(mine & theirs) >= params.alike * len(mine | theirs)
