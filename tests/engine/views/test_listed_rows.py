"""Does a list show the part that was asked for, in the order that was asked for?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.digests import Period, period_end, period_start
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import Situation, TimeSpan
from soulmem.engine.api.requests import ListOrder, MemoryFilter, NewEdge, Part
from soulmem.engine.api.results import MemoryView
from soulmem.engine.views.listed_rows import Density
from tests.engine.stage import ME, Stage, line
from tests.engine.taught import KEY, NEXT, REPLY, TALK, uses

START = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


async def listed(stage: Stage, limit: int = 100, **more: Any) -> list[MemoryView]:
    """What a list shows, page by page."""
    out: list[MemoryView] = []
    cursor: str | None = None
    while True:
        wanted = MemoryFilter(SoulId("s1"), limit=limit, cursor=cursor, **more)
        page = await stage.engine.memories.list(ME, wanted)
        out += page.memories
        cursor = page.cursor
        if cursor is None:
            return out


async def texts(stage: Stage, **more: Any) -> list[str]:
    """Their texts."""
    return [view.memory.text for view in await listed(stage, **more)]


async def scene(stage: Stage, text: str, hours: float, **more: Any) -> MemoryView:
    """An episode so many hours after START."""
    span = TimeSpan(START + hours * HOUR, None)
    return await stage.note(
        text, kind=MemoryKind.EPISODE, situation=Situation(time_span=span), **more
    )


async def test_a_chat_shows_what_it_tells(stage: Stage) -> None:
    last = line("last", "The last one is not settled yet.")
    await stage.sync("c1", [line("m1", "It rains."), line("m2", "So it does."), last])
    await stage.sync("c2", [line("k1", "It snows."), last])
    first = await texts(stage, part=Part(chat=ChatId("c1")))
    assert sorted(first) == ["Al: It rains.", "Al: So it does."]
    assert await texts(stage, part=Part(chat=ChatId("c2"))) == ["Al: It snows."]
    assert await texts(stage, part=Part(chat=ChatId("c3"))) == []
    found = await texts(stage, part=Part(chat=ChatId("c2")), q="it")
    assert found == ["Al: It snows."]


async def test_a_person_shows_what_mentions_her(stage: Stage) -> None:
    wren = await stage.note("Wren", kind=MemoryKind.CONCEPT)
    bob = await stage.note("Bob", kind=MemoryKind.CONCEPT)
    for text, concept in (("She swims.", wren), ("He sleeps.", bob)):
        edges = (NewEdge(EdgeKind.MENTIONS, to=concept.memory.id),)
        await stage.note(text, edges=edges)
    about = Part(about=wren.memory.id)
    assert sorted(await texts(stage, part=about)) == ["She swims.", "Wren"]
    only = Part(about=wren.memory.id, only_texts=True)
    assert await texts(stage, part=only) == ["She swims."]


async def test_a_span_shows_what_happened_in_it(stage: Stage) -> None:
    for hours in range(4):
        await scene(stage, f"hour {hours}", hours)
    part = Part(start=START + HOUR, end=START + 3 * HOUR)
    assert await texts(stage, part=part) == ["hour 2", "hour 1"]


async def test_only_texts_leaves_out_words_and_habits(stage: Stage) -> None:
    for kind in (MemoryKind.NOTE, MemoryKind.CONCEPT, MemoryKind.ACTION):
        await stage.note(f"a {kind.value}", kind=kind)
    await scene(stage, "a scene", 0)
    got = await texts(stage, part=Part(only_texts=True))
    assert sorted(got) == ["a note", "a scene"]


@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_any_order_in_pages_of_any_size(stage: Stage, limit: int) -> None:
    rng = Random(limit)
    hours = list(range(9))
    rng.shuffle(hours)
    for hour in hours:
        share = rng.choice([0.1, 0.5, 0.9])
        await scene(stage, f"hour {hour}", hour, importance=share)
    oldest = await texts(stage, limit=limit, order=ListOrder.OLDEST)
    assert oldest == [f"hour {hour}" for hour in range(9)]
    views = await listed(stage, limit, order=ListOrder.IMPORTANCE)
    places = [(view.memory.importance, view.memory.happened) for view in views]
    assert places == sorted(places, reverse=True)
    assert len(places) == 9


async def test_what_was_recalled_last_comes_first(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", TALK)
    where: dict[str, Any] = {"slot": SlotId("r1"), "swipe": 0, "max_items": 1}
    await stage.recall("Where is the silver key?", "c1", **where)
    await stage.sync("c1", [*TALK, REPLY, NEXT])
    assert await uses(stage) == 1
    views = await listed(stage, order=ListOrder.RECALLED)
    turns = [view.usage.last.turn if view.usage else -1 for view in views]
    assert turns == sorted(turns, reverse=True)
    assert views[0].memory.text == KEY
    assert turns[0] > turns[-1] == -1


async def test_the_strongest_come_first(stage: Stage) -> None:
    said = ["The key lies in the crypt.", "The boat is red.", "The dog is called Pim."]
    messages = [
        line(f"m{n}", text, Role.CHARACTER if n % 2 else Role.USER)
        for n, text in enumerate([*said, "Well?"])
    ]
    await stage.sync("c1", messages)
    kept = await stage.note("Her name is Ysolde.", permanent=True)
    stage.clock.advance(1, turns=300)
    views = await listed(stage, order=ListOrder.STRENGTH)
    strengths = [view.strength for view in views]
    assert views[0].memory.id == kept.memory.id
    assert strengths == sorted(strengths, reverse=True)
    assert strengths[-1] < 0.9


async def test_paging_goes_on_where_the_list_has_moved(stage: Stage) -> None:
    """What was there from beginning to end comes once, though others come meanwhile."""
    for hours in range(6):
        await scene(stage, f"hour {hours}", hours)
    got: list[str] = []
    cursor = None
    while True:
        order = ListOrder.OLDEST
        wanted = MemoryFilter(SoulId("s1"), order=order, limit=2, cursor=cursor)
        page = await stage.engine.memories.list(ME, wanted)
        got += [view.memory.text for view in page.memories]
        cursor = page.cursor
        if cursor is None:
            break
        await scene(stage, "early", -len(got))
    assert got == [f"hour {hours}" for hours in range(6)]


async def test_a_cursor_of_another_order_is_refused(stage: Stage) -> None:
    wanted = MemoryFilter(SoulId("s1"), order=ListOrder.OLDEST, cursor="4_-17_m1")
    with pytest.raises(Unprocessable) as refused:
        await stage.engine.memories.list(ME, wanted)
    assert refused.value.field == "cursor"


async def density(stage: Stage, bins: int, period: Period | None = None, **more: Any) -> Density:
    wanted = MemoryFilter(SoulId("s1"), **more)
    return await stage.engine.overviews.density(ME, wanted, bins, period)


async def test_density_counts_equal_shares_of_the_scenes_time(stage: Stage) -> None:
    assert await density(stage, 2) == Density(None, None, (0, 0))
    for hours in (0, 0.5, 1, 10):
        await scene(stage, f"hour {hours}", hours)
    stage.clock.advance(86_400)
    await stage.note("made by hand, long after")
    got = await density(stage, 5)
    assert got == Density(START, START + 10 * HOUR, (3, 0, 0, 0, 1))
    part = Part(start=START + HOUR)
    assert (await density(stage, 1, part=part)).counts == (2,)
    assert sum((await density(stage, 2, kind=MemoryKind.NOTE)).counts) == 1


@pytest.mark.parametrize("period", [Period.DAY, Period.WEEK, Period.MONTH])
async def test_periods_are_those_of_digests(stage: Stage, period: Period) -> None:
    hours = [0, 1, 30, 100, 2000, 2001]
    for hour in hours:
        await scene(stage, f"hour {hour}", hour)
    counts: dict[datetime, int] = {}
    for hour in hours:
        start = period_start((START + hour * HOUR).astimezone(), period)
        counts[start] = counts.get(start, 0) + 1
    got = (await density(stage, 1, period)).periods
    assert {share.start: share.count for share in got} == counts
    assert [share.start for share in got] == sorted(counts)
    for share in got:
        assert share.end == period_end(share.start, period)
        part = Part(start=share.start, end=share.end)
        assert len(await texts(stage, part=part)) == share.count
