"""A moment at an end of the calendar, as a former version stored it, breaks nothing of its soul or of others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.calendar import END, START
from soulmem.domain.ids import SoulId, StreamId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import SoulClock
from soulmem.domain.streams import StreamEvent
from tests.engine.stage import ME, Stage, lines

MOMENTS = [START, START + timedelta(hours=30), END - timedelta(hours=12), END]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    fresh_stage = Stage()
    await fresh_stage.start()
    await fresh_stage.soul()
    yield fresh_stage
    await fresh_stage.stop()


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
async def test_messages_at_an_end_leave_idle_and_recall_whole(
    stage: Stage, moment: datetime
) -> None:
    await stage.soul("s2", "Tom")
    odd = [replace(m, sent_at=moment, story_at=moment) for m in lines(6)]
    await stage.sync("odd", odd)
    day = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
    usual = [replace(m, sent_at=day) for m in lines(6, start=20)]
    await stage.sync("usual", usual, souls=("s2",))
    await stage.engine.idle.run()
    assert await stage.listed(soul="s2", kind=MemoryKind.DIGEST)
    assert (await stage.recall("text of m3", chat="odd")).memories


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
async def test_a_story_at_an_end_is_asked_about_its_yesterday(
    stage: Stage, moment: datetime
) -> None:
    await stage.soul(clock=SoulClock.STORY)
    await stage.sync("odd", [replace(m, story_at=moment) for m in lines(6)])
    for query in (
        "text yesterday",
        "text of 540 years ago",
        "昨天的灯",
        "this morning",
    ):
        await stage.recall(query, chat="odd")


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
async def test_an_event_at_an_end_is_stored_and_recalls_go_on(
    stage: Stage, moment: datetime
) -> None:
    event = StreamEvent(StreamId("live"), "e1", moment, "Zed", "the lantern fell")
    await stage.engine.streams.add(ME, SoulId("s1"), event.stream, [event])
    await stage.recall("lantern")
    await stage.engine.idle.run()
    page = await stage.engine.streams.page(ME, SoulId("s1"), event.stream, (None, None), 10, None)
    assert len(page.events) == (moment != END)  # the end of a span is exclusive
