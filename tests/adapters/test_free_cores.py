"""Does work go to as many threads as cores are free, and come back in order?"""

from __future__ import annotations

import threading

import pytest

from soulmem.adapters import model_passes
from soulmem.adapters.model_passes import FreeCores

ITEMS = list(range(40))


class Clock:
    """Time in which every thread computes a share of what passes."""

    def __init__(self) -> None:
        self.share = 1.0
        self._now = threading.local()

    def perf_counter(self) -> float:
        self._now.value = getattr(self._now, "value", 0.0) + 1.0
        return float(self._now.value)

    def thread_time(self) -> float:
        return self.share * float(getattr(self._now, "value", 0.0))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock for the threads, and four cores."""
    out = Clock()
    monkeypatch.setattr(model_passes, "time", out)
    monkeypatch.setattr(model_passes, "_cores", lambda: 8)
    return out


def doubled(item: int) -> int:
    """Some work."""
    return 2 * item


def test_results_are_in_order_whatever_the_number_of_threads(clock: Clock) -> None:
    cores = FreeCores()
    for _ in range(20):
        assert cores.map(doubled, ITEMS) == [2 * item for item in ITEMS]
    assert cores.threads == 4
    assert cores.map(doubled, []) == []
    assert cores.map(doubled, [3]) == [6]


def test_threads_that_find_no_core_are_given_up_and_seldom_tried_again(
    clock: Clock,
) -> None:
    cores = FreeCores()
    for _ in range(20):
        cores.map(doubled, ITEMS)
    clock.share = 0.5
    for _ in range(20):
        cores.map(doubled, ITEMS)
    assert cores.threads == 1
    tried = 0
    for _ in range(300):
        # One core is free, no second one
        clock.share = 1.0 if cores.threads == 1 else 0.5
        cores.map(doubled, ITEMS)
        tried += cores.threads > 1
    assert 0 < tried < 15
    assert cores.threads <= 2


def test_no_more_threads_than_were_allowed(clock: Clock) -> None:
    cores = FreeCores(2)
    for _ in range(20):
        cores.map(doubled, ITEMS)
    assert cores.threads == 2


def test_an_error_comes_through(clock: Clock) -> None:
    cores = FreeCores(3)
    for _ in range(20):
        cores.map(doubled, ITEMS)
    with pytest.raises(ZeroDivisionError):
        cores.map(lambda item: 1 // (item - 7), ITEMS)
    assert cores.map(doubled, ITEMS) == [2 * item for item in ITEMS]
