"""Are the pages of a search whole and in order when the memories are read in pieces?"""

from __future__ import annotations

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import MemoryFilter
from soulmem.engine.editing import word_search
from soulmem.engine.views.tag_levels import level_of
from tests.engine.stage import ME, Stage

FOUND = [
    *("tag exactly", "tag partly"),
    *(f"a phrase of rain water, {i}" for i in (5, 3, 1)),
    *(f"water from the rain, {i}" for i in (4, 2, 0)),
]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_search, "_PIECE", 2)


async def remember(stage: Stage) -> None:
    """What `FOUND` finds, and other things between."""
    for i in range(6):
        words = "a phrase of rain water" if i % 2 else "water from the rain"
        await stage.note(f"{words}, {i}")
        await stage.note(f"nothing of it, {i}", kind=MemoryKind.CONCEPT)
        stage.clock.advance(1)
    await stage.note("tag partly", tags=("Old Rain Water",))
    await stage.note("tag exactly", tags=("rain water",))


@pytest.mark.parametrize("limit", [1, 3, 8, 100])
async def test_pages_hold_all_that_is_found_once(stage: Stage, limit: int) -> None:
    """Best level first, then the newest."""
    await remember(stage)
    wanted = MemoryFilter(SoulId("s1"), q="rain water", limit=limit)
    assert await texts(stage, wanted) == FOUND


async def test_what_comes_and_goes_between_pages(stage: Stage) -> None:
    """What was there all the time comes once; what has gone does not come."""
    await remember(stage)
    wanted = MemoryFilter(SoulId("s1"), q="rain water", limit=3)
    page = await stage.engine.memories.list(ME, wanted)
    gone = await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1"), q=FOUND[4]))
    await stage.engine.memories.delete(ME, gone.memories[0].memory.id, None)
    await stage.note("rain water of today")
    rest = MemoryFilter(SoulId("s1"), q="rain water", limit=100, cursor=page.cursor)
    assert await texts(stage, rest) == [FOUND[3], *FOUND[5:]]


async def test_a_page_behind_another_reads_nothing_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the soul changes."""
    await remember(stage)
    read: list[int] = []
    plain = level_of

    def counted(*args: object) -> int:
        read.append(1)
        return plain(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(word_search, "level_of", counted)
    first = MemoryFilter(SoulId("s1"), q="rain water", limit=3)
    page = await stage.engine.memories.list(ME, first)
    assert read
    read.clear()
    second = MemoryFilter(SoulId("s1"), q="rain water", limit=3, cursor=page.cursor)
    assert [
        v.memory.text for v in (await stage.engine.memories.list(ME, second)).memories
    ] == FOUND[3:6]
    assert not read
    await stage.note("rain water of today")
    await stage.engine.memories.list(ME, second)
    assert read


async def texts(stage: Stage, wanted: MemoryFilter) -> list[str]:
    """The texts of all pages."""
    out: list[str] = []
    cursor = wanted.cursor
    while True:
        page = await stage.engine.memories.list(
            ME, MemoryFilter(wanted.soul, q=wanted.q, limit=wanted.limit, cursor=cursor)
        )
        out += (view.memory.text for view in page.memories)
        cursor = page.cursor
        if cursor is None:
            return out
