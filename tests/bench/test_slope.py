"""Is the slope that of the growth, and does the table tell it?"""

from __future__ import annotations

import pytest

from tests.bench.slope import PARTS, Row, report, slopes


def test_the_slope_is_the_exponent_of_the_growth() -> None:
    rows = [
        Row(n, sync=n**0.25, recall=0.1 * n**0.5, still_recall=n / 50)
        for n in (1_000, 3_000, 10_000, 100_000)
    ]
    slope = slopes(rows)
    assert [slope[part] for part in PARTS] == pytest.approx([0.25, 0.5, 1.0], abs=1e-9)
    lines = report(rows, slope).splitlines()
    assert lines[2] == "| 1,000 | 5.62 | 3.16 | 20 |"
    assert lines[6].split(" | ")[1:] == ["0.25", "0.50", "1.00 |"]
