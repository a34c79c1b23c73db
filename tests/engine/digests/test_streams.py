"""Events of streams are added once, told by a highlight each quarter of an hour, and known to the next recall."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.digests import digest_span
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import SoulId, StreamId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.streams import StreamEvent
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.digests.streams import Added
from tests.engine.stage import ME, Stage

SOUL, LIVE = SoulId("s1"), StreamId("live")
# The clock of the tests stands at noon.
_START = datetime(2026, 5, 1, 11, 30, tzinfo=timezone.utc)
_NEWS = "My flatmate has adopted a three-legged otter called Biscuit!"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    fresh_stage = Stage()
    await fresh_stage.start()
    await fresh_stage.soul()
    yield fresh_stage
    await fresh_stage.stop()


def event(key: str, minute: float, text: str = "lol", who: str = "Zed") -> StreamEvent:
    """An event so many minutes after the start."""
    return StreamEvent(LIVE, key, _START + timedelta(minutes=minute), who, text)


def chatter(minutes: Iterable[float]) -> list[StreamEvent]:
    """Events that say nothing."""
    said = ("lol", "gg", "first", "nice")
    return [event(f"e{m}", m, said[int(m) % 4], f"viewer{int(m) % 7}") for m in minutes]


async def add(stage: Stage, *events: StreamEvent) -> Added:
    return await stage.engine.streams.add(ME, SOUL, LIVE, events)


async def highlights(stage: Stage) -> list[Memory]:
    """The highlights, the earliest first."""
    found = await stage.listed(kind=MemoryKind.DIGEST)
    return sorted(found, key=lambda memory: memory.happened)


async def test_an_event_is_added_once(stage: Stage) -> None:
    events = chatter(range(5))
    assert await add(stage, *events, events[0]) == Added(5, 1)
    assert await add(stage, event("e0", 3, "changed")) == Added(0, 1)
    await stage.restart()
    assert await add(stage, *events) == Added(0, 5)
    page = await stage.engine.streams.page(ME, SOUL, LIVE, (None, None), 100, None)
    assert page.events == events
    assert page.cursor is None


async def test_pages_follow_each_other(stage: Stage) -> None:
    events = chatter(range(7))
    await add(stage, *events)
    listed, cursor = list[StreamEvent](), None
    while True:
        streams = stage.engine.streams
        page = await streams.page(ME, SOUL, LIVE, (None, None), 3, cursor)
        listed += page.events
        cursor = page.cursor
        if cursor is None:
            break
    assert listed == events
    span = events[2].moment, events[5].moment
    page = await stage.engine.streams.page(ME, SOUL, LIVE, span, 100, None)
    assert list(page.events) == events[2:5]
    with pytest.raises(Unprocessable, match="no cursor"):
        await stage.engine.streams.page(ME, SOUL, LIVE, span, 3, "nonsense")


async def test_an_unknown_soul_is_refused(stage: Stage) -> None:
    with pytest.raises(NotFound):
        await stage.engine.streams.add(ME, SoulId("nobody"), LIVE, [event("a", 0)])


async def test_each_quarter_of_an_hour_has_a_highlight(stage: Stage) -> None:
    await add(stage, *chatter(range(30)), event("news", 20.5, _NEWS, "Quill"))
    await stage.engine.idle.run()
    made = await highlights(stage)
    assert [digest_span(m)[0] for m in made] == [_START, _START + timedelta(minutes=15)]
    assert [m.situation.period for m in made] == ["highlight"] * 2
    assert f"Quill: {_NEWS}" in made[1].text
    assert "Quill" in {p.name for p in made[1].situation.participants}
    assert made[1].text.count("lol") <= 1
    await stage.engine.idle.run()
    await stage.restart()
    await stage.engine.idle.run()
    assert await highlights(stage) == made


async def test_a_recall_knows_what_was_just_said(stage: Stage) -> None:
    await add(stage, *chatter(range(28)), event("news", 29.5, _NEWS, "Quill"))
    stage.clock.advance(-20)  # the quarter goes on
    answer = await stage.recall("Who was it that adopted an otter?")
    (told,) = answer.memories
    assert "Quill" in told.text
    (_, going_on) = await highlights(stage)
    assert digest_span(going_on)[1] <= stage.clock.now() + timedelta(seconds=1)
    stage.clock.advance(60)
    await stage.engine.idle.run()
    (_, over) = await highlights(stage)
    assert over.id == going_on.id
    assert digest_span(over)[1] == _START + timedelta(minutes=30)
    assert not (await stage.recall("Shall we eat now?")).memories


async def test_what_the_user_did_to_a_highlight_stays(stage: Stage) -> None:
    await add(stage, event("news", 1, _NEWS, "Quill"))
    await stage.engine.idle.run()
    (made,) = await highlights(stage)
    await stage.engine.memories.patch(ME, made.id, MemoryPatch(text="An otter came."))
    await add(stage, event("later", 2, "It has a red collar."))
    await stage.engine.idle.run()
    assert [m.text for m in await highlights(stage)] == ["An otter came."]


async def test_nothing_of_a_stream_is_in_the_fingerprint(stage: Stage) -> None:
    before = await stage.fingerprint()
    await add(stage, event("news", 1, _NEWS, "Quill"))
    await stage.engine.idle.run()
    assert await stage.fingerprint() == before
