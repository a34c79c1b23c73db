"""Are the plots and the table of the page on forgetting what the code draws?"""

from __future__ import annotations

import re
from pathlib import Path

from tests.bench.forgetting_curve import (
    curves_of_decay,
    curves_of_sample,
    plot,
    sample_table,
    write,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_up_to_date(tmp_path: Path) -> None:
    page = tmp_path / "forgetting.md"
    text = (DOCS / "forgetting.md").read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    write(page)
    assert page.read_text(encoding="utf-8") == text
    for name in re.findall(r"\((forgetting-\w+\.svg)\)", text):
        made = (tmp_path / name).read_text(encoding="utf-8")
        assert (DOCS / name).read_text(encoding="utf-8") == made


def test_curves_fall_and_details_fall_before_their_clause() -> None:
    for curve in (*curves_of_decay(), *curves_of_sample()):
        values = [curve.value(turns) for turns in range(0, 6000, 100)]
        assert values[0] == 1.0
        assert values == sorted(values, reverse=True)
    clause, *details, last = curves_of_sample()
    assert all(detail.value(300) < clause.value(300) for detail in details)
    assert last.value(300) > details[0].value(300)


def test_a_plot_shows_every_curve() -> None:
    curves = curves_of_decay()
    svg = plot(curves, 1000)
    assert all(curve.label in svg for curve in curves)
    assert svg.count("stroke-width") == len(curves)


def test_the_table_reads_from_clear_to_nothing() -> None:
    rows = sample_table().splitlines()[2:]
    assert "xxx" not in rows[0]
    assert rows[-1].endswith("| (not told) | Mia: xxx. |")
