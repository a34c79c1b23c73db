"""What does a memory's recall record count?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.usage import STAMPS, Stamp, Usage, first_use

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
WINDOW = 3.0


def stamp(turn: int) -> Stamp:
    """A moment at that turn, a minute after the one before."""
    return Stamp(NOON + timedelta(minutes=turn), turn)


def recalled(*turns: int) -> Usage:
    """The record of a memory recalled at these turns."""
    usage = first_use(MemoryId("m1"), SoulId("s1"), stamp(turns[0]))
    for turn in turns[1:]:
        usage = usage.again(stamp(turn))
    return usage


def test_three_recalls_are_three_stamps() -> None:
    usage = recalled(4, 9, 30)
    assert (usage.count, usage.first, usage.last) == (3, stamp(4), stamp(30))
    assert usage.stamps == (stamp(4), stamp(9), stamp(30))


def test_the_count_goes_on_where_the_stamps_end() -> None:
    usage = recalled(*range(200))
    assert (usage.count, usage.first) == (200, stamp(0))
    assert usage.stamps == tuple(stamp(turn) for turn in range(200 - STAMPS, 200))


@pytest.mark.parametrize(
    ("turns", "exchanges"),
    [((5,), 1), ((5, 5), 1), ((5, 6), 2), ((5, 5, 9, 9, 9), 2), (tuple(range(99)), 65)],
)
def test_exchanges_are_told_apart_by_their_turn(turns: tuple[int, ...], exchanges: int) -> None:
    """Of a long record the first one and those that have a stamp."""
    assert recalled(*turns).exchanges() == exchanges


@pytest.mark.parametrize(
    ("turns", "frequency"),
    [
        ((7,), 1 / 3),  # no time lies between: the window does
        ((7, 7), 2 / 3),
        ((7, 9), 2 / 3),
        ((0, 12), 2 / 12),
        (tuple(range(0, 135, 15)), 9 / 120),
        ((9, 4), 2 / 3),  # a clock that was set back
    ],
)
def test_frequency_is_recalls_over_the_time_between_first_and_last(
    turns: tuple[int, ...], frequency: float
) -> None:
    assert recalled(*turns).frequency(WINDOW) == pytest.approx(frequency)
