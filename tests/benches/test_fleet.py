"""Does the simulated day count openings and waits as it says?"""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench import fleet
from tests.bench.fleet import Costs, Players, Server, arrivals, openings, play


def test_a_soul_is_opened_again_after_it_was_closed() -> None:
    moments = np.asarray([0.0, 5.0, 8.0, 30.0, 31.0])
    souls = np.asarray([1, 2, 1, 1, 2])
    opens, most = openings(moments, souls, closes_after=10.0)
    assert opens.tolist() == [True, True, False, True, True]
    assert most == 2


def test_one_core_works_on_one_message_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    day = np.asarray([10.0, 10.5, 100.0]), np.asarray([0, 1, 0])
    monkeypatch.setattr(fleet, "arrivals", lambda _players: day)
    costs = Costs(open_seconds=2.0, message_seconds=1.0, idle_seconds=0.0)
    played = play(Players(souls=2), Server(cores=1), costs, servers=1)
    # 3 s; 3 s behind it; 1 s, as the soul is open
    assert played.p50_wait == pytest.approx(3.0)
    assert played.p95_wait == pytest.approx(np.percentile([3.0, 5.5, 1.0], 95))
    assert (played.opened, played.messages) == (2, 3)
    assert played.busy_share == pytest.approx(7.0 / 3600)


def test_more_servers_mean_less_waiting_and_the_day_is_always_the_same() -> None:
    players = Players(souls=300, evenings=2.0)
    costs = Costs(open_seconds=20.0, message_seconds=2.0)
    one, two = (play(players, Server(cores=1), costs, n) for n in (1, 8))
    assert one.p95_wait > two.p95_wait
    assert one.most_open == two.most_open
    again = arrivals(players)
    assert np.array_equal(arrivals(players)[0], again[0])
    assert np.all(np.diff(again[0]) >= 0)
