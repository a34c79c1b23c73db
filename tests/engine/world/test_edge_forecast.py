"""Where a walk waits next, and how much of that must be loaded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from soulmem.engine.world.edge_forecast import EdgeForecast, forecast_of

MASS = [0.125, 0.5, 0.125, 0.25]


@pytest.mark.parametrize(
    ("l1", "rows"),
    [
        (4.0, [11]),
        (2.0, [11]),
        (1.0, [11, 13]),
        (0.5, [11, 13, 10]),
        (0.1, [11, 13, 10, 12]),
    ],
)
def test_so_many_of_the_largest_that_little_remains_at_the_others(
    l1: float, rows: list[int]
) -> None:
    forecast = EdgeForecast(np.array([10, 11, 12, 13]), np.array(MASS))
    assert sorted(forecast.most(l1).tolist()) == sorted(rows)


def walked(error: float, stuck: list[float]) -> Any:
    rows = np.arange(len(stuck), dtype=np.uint32)
    return SimpleNamespace(error=error, stuck=np.array(stuck), stuck_rows=rows)


def test_a_walk_goes_on_where_it_waits_until_its_error_is_small() -> None:
    forecast = forecast_of(walked(0.3, [0.2, 0.1]), 0.25)
    assert forecast is not None
    assert (forecast.rows.tolist(), forecast.mass.tolist()) == ([0, 1], [0.2, 0.1])
    assert forecast.rows.dtype == np.int64
    assert forecast_of(walked(0.25, [0.2]), 0.25) is None
    assert forecast_of(walked(0.3, []), 0.25) is None
