"""Is the slope that of the growth, and does the table tell it?"""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.bench.slope import PARTS, STEPS, Row, StepTimes, report, slopes

SIZES = (1_000, 3_000, 10_000, 100_000)


def test_the_slope_is_the_exponent_of_the_growth() -> None:
    rows = [Row(n, {"sync": n**0.25, "recall": 0.1 * n**0.5, "ranking": n / 50}) for n in SIZES]
    slope = slopes(rows)
    assert slope == pytest.approx({"sync": 0.25, "recall": 0.5, "ranking": 1.0})
    lines = {line.split(" | ")[0]: line for line in report(rows, slope).splitlines()}
    assert lines["| a message"] == "| a message | 5.62 | 7.4 | 10 | 17.8 | 0.25 |"
    assert lines["| - ranking"].split(" | ")[1:] == [
        "20",
        "60",
        "200",
        "2,000",
        "1.00 |",
    ]
    assert set(lines["| - answer"].split(" | ")[1:]) <= {"", " |"}


def test_of_one_size_there_is_no_slope() -> None:
    assert slopes([Row(1_000, dict.fromkeys((*PARTS, *STEPS), 1.0))]) == {}


def test_each_step_is_there_and_timed() -> None:
    """Renamed, it would be left out of the table without a word."""
    with ExitStack() as patches:
        steps = StepTimes(patches)
        for place, function in STEPS.values():
            with pytest.raises(TypeError):
                getattr(place, function)()
        assert steps.taken().keys() == STEPS.keys()
        assert steps.taken() == {}
