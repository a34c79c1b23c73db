"""Text of facts that have ended, with the time of the end where it is known."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from soulmem.engine.recall.deduplication import as_past

DAY = datetime(2024, 3, 5, 23, 59, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "until", "story", "expected"),
    [
        ("Ann lives in Paris", None, None, "Ann lives in Paris (no longer so)"),
        (
            "Ann lives in Paris",
            DAY,
            None,
            "Ann lives in Paris (until 5 March 2024, no longer so)",
        ),
        (
            "Ann lives in Paris",
            DAY,
            "the frost moon",
            "Ann lives in Paris (until the frost moon, no longer so)",
        ),
        ("小安住在北京", None, None, "小安住在北京（现已不再如此）"),
        ("小安住在北京", DAY, None, "小安住在北京（到2024年3月5日为止，现已不再如此）"),
        ("小安住在北京", DAY, "霜月", "小安住在北京（到霜月为止，现已不再如此）"),
    ],
)
def test_past(text: str, until: datetime | None, story: str | None, expected: str) -> None:
    assert as_past(text, until, story) == expected
