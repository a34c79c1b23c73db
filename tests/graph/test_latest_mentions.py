"""Are the mentions that count found, whatever came and went, with and without compiled code?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from soulmem.graph import latest_mentions, slot_lists
from soulmem.graph.latest_mentions import Mentions
from soulmem.graph.slot_lists import Chains
from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.warm import installed_cache, kernels, warm

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
SLOTS, ROWS = 60, 4
MENTION, OTHER, FREE = 3, 1, 255


both_ways = pytest.mark.parametrize("_way", ["compiled", "plain"], indirect=True)


@pytest.fixture(autouse=True, scope="module")
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    way = getattr(request, "param", "compiled")
    folder: Path = installed_cache()
    warm(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slot_lists, "kernels", kernels if way == "compiled" else interpreted)
        patch.setattr(latest_mentions, "LATEST", 3)
        patch.setattr(latest_mentions, "MANY", 6)
        yield


@both_ways
@pytest.mark.parametrize("seed", range(5))
def test_of_very_many_those_touched_last_count(seed: int) -> None:
    """Of those touched in one moment and turn any: only their moments and turns are compared."""
    rng = np.random.default_rng(seed)
    rows, arriving = Mentions(MENTION), Chains()
    kind, target = np.full(SLOTS, FREE, np.uint8), np.zeros(SLOTS, np.uint32)
    touched, at_turn = np.zeros(SLOTS, np.int64), np.full(SLOTS, np.nan)

    def check() -> None:
        slots_found = rows.of(np.arange(ROWS), arriving, kind, target, touched, at_turn)
        assert slots_found.tolist() == sorted(set(slots_found.tolist()))
        for row in range(ROWS):
            every = [s for s in range(SLOTS) if kind[s] == MENTION and target[s] == row]
            moments = sorted(
                (touched[s], -np.inf if np.isnan(at_turn[s]) else at_turn[s]) for s in every
            )
            mine = [s for s in slots_found.tolist() if target[s] == row]
            assert set(mine) <= set(every)
            expected = sorted(
                (touched[s], -np.inf if np.isnan(at_turn[s]) else at_turn[s]) for s in mine
            )
            assert expected == (moments[-3:] if len(every) > 6 else moments)
            asked_alone = rows.of(np.asarray([row]), arriving, kind, target, touched, at_turn)
            assert asked_alone.tolist() == mine

    for asks in (rng.random(400) < 0.3).tolist():
        slot, row = int(rng.integers(SLOTS)), int(rng.integers(ROWS))
        if rng.random() < 0.1 and kind[slot] != FREE:
            arriving.remove(int(target[slot]), slot)
            rows.forget(int(target[slot]))
            kind[slot] = FREE
        else:
            if kind[slot] == FREE:
                kind[slot], target[slot] = rng.choice([MENTION, MENTION, OTHER]), row
                arriving.add(row, slot)
            touched[slot] = rng.integers(0, 5)  # many at one moment, and earlier than before
            at_turn[slot] = np.nan if rng.random() < 0.2 else rng.integers(0, 6)
            if kind[slot] == MENTION:
                rows.put(int(target[slot]), slot, touched, at_turn)
        if asks:
            check()
    check()
    rows.forget()
    check()


def test_no_more_rows_are_remembered_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(latest_mentions, "_ROWS", 3)
    rows, arriving = Mentions(MENTION), Chains()
    target = np.repeat(np.arange(8), 7).astype(np.uint32)
    kind, touched = np.full(target.size, MENTION, np.uint8), np.arange(target.size)
    arriving.add_all(target.astype(np.int64), np.arange(target.size, dtype=np.int32))
    slots_found = rows.of(np.arange(8), arriving, kind, target, touched, np.zeros(target.size))
    assert slots_found.tolist() == [7 * row + last for row in range(8) for last in (4, 5, 6)]
    assert len(rows._latest) <= 3
