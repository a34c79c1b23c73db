"""What fades next: does the forecast come true, in order, page by page, and does looking change nothing?"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from soulmem.domain.dialogue import text_hash
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.forgetting_curve import Decay
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)
from soulmem.domain.soul import SoulSettings
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.views.fading_ahead import FadingMemory, Horizon
from soulmem.engine.views.read_texts import read_texts, turns_left
from tests.engine.stage import ME, Stage, line

S1 = SoulId("s1")
TEXTS = [
    f"{who} left the {thing} in Brindlemoor, which surprised nobody at all."
    for who in ("Kaelith", "Odile", "Bertil")
    for thing in ("violin", "ladder", "saddle", "canoe")
]


async def fading(
    stage: Stage, turns: float = 500.0, dial: float | None = None, limit: int = 100
) -> list[FadingMemory]:
    """All pages of what fades."""
    horizon, cursor = Horizon(turns, dial), None
    out: list[FadingMemory] = []
    while True:
        page = await stage.engine.overviews.fading(ME, S1, horizon, limit, cursor)
        assert len(page.memories) <= limit
        out += page.memories
        cursor = page.cursor
        if cursor is None:
            return out


@pytest.fixture
async def told(stage: Stage) -> Stage:
    """A soul that was told a dozen things, with one memory of each protection."""
    said = [line(f"m{i}", text) for i, text in enumerate(TEXTS)]
    await stage.sync("a", [*said, line("end", "Hm.")])
    kind = MemoryKind.EPISODE
    await stage.note("The well must stay shut.", kind=kind, permanent=True)
    await stage.note("She never drinks milk.", kind=kind, locked=True)
    await stage.note("A note by hand stays clear.")
    return stage


async def test_what_loses_most_comes_first_and_pages_join(told: Stage) -> None:
    rows = await fading(told)
    assert sorted(row.memory.text for row in rows) == sorted(f"Al: {t}" for t in TEXTS)
    losses = [row.loss for row in rows]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] > 0.0
    paged = await fading(told, limit=5)
    assert [row.memory.id for row in paged] == [row.memory.id for row in rows]


async def test_the_forecast_comes_true_when_the_clock_is_moved(told: Stage) -> None:
    rows = await fading(told, 300.0)
    foretold = {row.memory.id: row.then.text for row in rows}
    assert any("something about" in text for text in foretold.values())
    assert any("xxx(" in row.marked_then for row in rows)
    await told.engine.advance_clock(0.0, 300)
    mind = await told.mind()
    memories = [mind.memories[key] for key in foretold]
    turn = float(mind.lived_turns(told.clock.extra_turns))
    read = await asyncio.to_thread(lambda: read_texts(mind, memories, turn))
    assert [text.text for text in read] == list(foretold.values())


async def test_what_matters_too_little_leaves(told: Stage) -> None:
    await told.sync("b", [line("b1", "Fine weather today."), line("b2", "Hm."), *()])
    kept = await told.find(f"Al: {TEXTS[0]}")
    await told.engine.memories.patch(ME, kept, MemoryPatch(importance=0.6))
    rows = {row.memory.text: row for row in await fading(told, 20_000.0)}
    assert rows["Al: Fine weather today."].leaves
    assert not rows[f"Al: {TEXTS[0]}"].leaves


async def test_an_elephant_forgets_nothing_unless_the_dial_is_tried(
    told: Stage,
) -> None:
    await told.engine.souls.put(ME, S1, "Mira", None, SoulSettings(forgetting=0.0))
    assert await fading(told) == []
    tried = await fading(told, dial=2.0)
    assert len(tried) == len(TEXTS)
    assert await fading(told, dial=0.0) == []


async def test_one_memory_is_shown_whether_it_fades_or_not(told: Stage) -> None:
    well = await told.find("The well must stay shut.")
    page = await told.engine.overviews.fading_of(ME, S1, well, Horizon(5000.0))
    (row,) = page.memories
    assert (row.now.text, row.then.text) == (row.memory.text, row.memory.text)
    assert not row.changes
    with pytest.raises(NotFound):
        await told.engine.overviews.fading_of(ME, S1, MemoryId("no"), Horizon(5.0))


async def test_looking_changes_nothing(told: Stage) -> None:
    mind = await told.mind()
    before = (await told.fingerprint(), mind.revision, len(mind.fading))
    assert await fading(told) == await fading(told)
    assert (await told.fingerprint(), mind.revision, len(mind.fading)) == before


@pytest.mark.parametrize("cursor", ["", "x", "0.5_m1", "0.500000000_a/b", "-1_2_3"])
async def test_another_pages_cursor_is_refused(told: Stage, cursor: str) -> None:
    with pytest.raises(Unprocessable) as refusal:
        await told.engine.overviews.fading(ME, S1, Horizon(9.0), 5, cursor)
    assert refusal.value.field == "cursor"


async def test_a_list_shows_how_each_memory_reads(told: Stage) -> None:
    await told.engine.advance_clock(0.0, 700)
    key = await told.find(f"Al: {TEXTS[3]}")
    view = await told.engine.memories.get(ME, key)
    assert view.reads_now is not None
    assert "something about" in view.reads_now
    assert view.memory.text == f"Al: {TEXTS[3]}"
    assert 0.0 < view.visibility < 0.6
    assert view.fades
    assert view.gone_in is not None
    note = await told.find("A note by hand stays clear.")
    by_hand = await told.engine.memories.get(ME, note)
    assert (by_hand.fades, by_hand.gone_in) == (False, None)


@pytest.mark.parametrize("decay", Decay)
async def test_when_nothing_is_left_is_told_to_the_turn(told: Stage, decay: Decay) -> None:
    """Of fresh texts and of one with a gist, an anchor, and parts that were recalled."""
    await told.engine.souls.put(ME, S1, "Mira", None, SoulSettings(decay=decay))
    mind = await told.mind()
    fresh, touched = [mind.memories[await told.find(f"Al: {text}")] for text in TEXTS[:2]]
    words = touched.text
    clear = Retention(0.8, 1700.0, touched.happened, 0.0)
    units = [
        MicroUnit(UnitSpan(4, len(words), "she left"), clear),
        MicroUnit(UnitSpan(4, 11, "somebody", is_detail=True), clear),
    ]
    anchor = Anchor("ladder", AnchorKind.SPONTANEOUS, replace(clear, stability=900.0))
    digest = text_hash(words)
    record = FadingRecord(touched.id, touched.soul, digest, tuple(units), (anchor,), True, True)
    mind.fading.put([record])
    turn = float(mind.lived_turns(0))

    def is_gone(memory: Memory, ahead: float) -> bool:
        (read,) = read_texts(mind, [memory], turn, ahead=ahead)
        return read.is_empty

    for memory in (fresh, touched):
        left = await asyncio.to_thread(turns_left, mind, memory, 0)
        assert left is not None
        assert left > 50
        assert not await asyncio.to_thread(is_gone, memory, left - 1.0)
        for later in (left, left + 1.0, 2 * left):
            assert await asyncio.to_thread(is_gone, memory, later)
    well = mind.memories[await told.find("The well must stay shut.")]
    assert await asyncio.to_thread(turns_left, mind, well, 0) is None


async def test_of_what_is_gone_nothing_is_left(told: Stage) -> None:
    await told.engine.advance_clock(0.0, 20_000)
    mind = await told.mind()
    memory = mind.memories[await told.find(f"Al: {TEXTS[0]}")]
    extra = told.clock.extra_turns
    assert await asyncio.to_thread(turns_left, mind, memory, extra) == 0.0
