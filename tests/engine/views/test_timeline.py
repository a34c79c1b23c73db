"""Does the timeline hold what overlaps a span, in order, whatever the page?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from random import Random

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import Situation, TimeSpan
from soulmem.domain.soul import KnownName
from tests.engine.stage import ME, Stage

START = datetime(2026, 5, 1, tzinfo=timezone.utc)


def moment(rng: Random) -> datetime:
    """One of a few, so that many coincide; one of them before 1970."""
    return START + timedelta(
        hours=rng.choice([-500_000, 0, 1, 1, 2, 3, 5, 8]),
        microseconds=rng.choice([0, 1]),
    )


@pytest.mark.parametrize("seed", range(12))
async def test_any_span_in_pages_of_any_size(stage: Stage, seed: int) -> None:
    """As a look at every memory would find it: what is in use, but for triggers and names of the card."""
    rng = Random(seed)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Bob"),), None)
    for number in range(25):
        first, last = sorted((moment(rng), moment(rng)))
        span = rng.choice(
            [None, TimeSpan(first, last), TimeSpan(first, None), TimeSpan(None, last)]
        )
        kind = MemoryKind.EPISODE if span else rng.choice([MemoryKind.NOTE, MemoryKind.TRIGGER])
        made = await stage.note(f"note {number}", kind=kind, situation=Situation(time_span=span))
        if rng.random() < 0.2:
            await stage.engine.memories.delete(ME, made.memory.id, None)
    start, end = sorted((moment(rng), moment(rng)))
    start_or, end_or = (
        rng.choice([start, None]),
        rng.choice([end + timedelta(hours=1), None]),
    )
    expected = [m for m in await stage.listed() if is_in_span(m, start_or, end_or)]
    expected.sort(key=lambda m: (m.happened, m.id))
    listed: list[Memory] = []
    cursor = None
    limit = rng.choice([1, 3, 50])
    while True:
        page = await stage.engine.memories.timeline(
            ME, SoulId("s1"), start_or, end_or, limit, cursor
        )
        assert 0 < len(page.memories) <= limit or not expected
        listed += [view.memory for view in page.memories]
        if (cursor := page.cursor) is None:
            break
    assert listed == expected


def is_in_span(memory: Memory, start: datetime | None, end: datetime | None) -> bool:
    """Whether the span has a part of it."""
    if memory.kind is MemoryKind.TRIGGER or memory.origin is Origin.CARD:
        return False
    return (end is None or memory.happened < end) and (start is None or memory.ended >= start)
