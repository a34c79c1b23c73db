"""How long a text lasts: what matters more or was told or recalled more lasts longer, whatever its length."""

from __future__ import annotations

from datetime import datetime, timezone
from math import log

import numpy as np
import pytest

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.usage import Stamp, first_use
from soulmem.engine.upkeep.prunable import (
    PruneParams,
    TextFactors,
    lifetimes,
    spaced_recalls,
)


def lifetime(
    importance: float = 0.1,
    tellings: float = 1.0,
    recalls: float = 0.0,
    pace: float = 1.0,
) -> float:
    """The lifetime of one text, in turns."""
    values = (np.asarray([value]) for value in (importance, tellings, recalls))
    return float(lifetimes(TextFactors(*values), pace)[0])


def test_plain_talk_lasts_until_a_twentieth_of_it_is_left() -> None:
    assert lifetime() == pytest.approx(600 * log(20))


def test_what_matters_twice_as_much_lasts_four_times_as_long() -> None:
    assert lifetime(importance=0.2) == pytest.approx(4 * lifetime())
    assert lifetime(importance=0.02) == PruneParams().unused  # filler goes first


def test_tellings_and_recalls_lengthen_a_life() -> None:
    assert lifetime(tellings=3.0) == pytest.approx(3 * lifetime())
    assert lifetime(recalls=2.0) == pytest.approx(1.8**2 * lifetime())


def test_the_dial_shortens_a_life_but_not_below_the_turns_without_a_recall() -> None:
    assert lifetime(pace=2.0) == pytest.approx(lifetime() / 2)
    assert lifetime(pace=0.0) == np.inf
    short = PruneParams(stability=1.0)
    factors = TextFactors(*(np.zeros(1) for _ in range(3)))
    assert lifetimes(factors, 1.0, short).tolist() == [short.unused]


def test_recalls_close_to_each_other_count_once() -> None:
    moment = datetime(2026, 1, 1, tzinfo=timezone.utc)
    usage = first_use(MemoryId("m"), SoulId("s"), Stamp(moment, 3))
    for turn in (4, 12, 13, 40):
        usage = usage.again(Stamp(moment, turn))
    assert spaced_recalls(usage) == 3  # at 3, 13 and 40
