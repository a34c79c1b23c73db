"""How much does a soul remember, and what did it feel last?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from soulmem.domain.dialogue import Role
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.views.overview import Overview
from tests.engine.stage import ME, Stage, line

LONG_AGO = datetime(2020, 5, 1, 10, tzinfo=timezone.utc)


async def seen(stage: Stage) -> Overview:
    """The overview of the soul."""
    return await stage.engine.overviews.overview(ME, SoulId("s1"))


async def test_an_empty_soul_has_nothing(stage: Stage) -> None:
    assert await seen(stage) == Overview(0, 0, 0, 0, None, None)


async def test_memories_are_counted_and_the_latest_feeling_is_told(
    stage: Stage,
) -> None:
    now = stage.clock.now()
    texts = ["I am so happy, I could dance!", "I am terribly sad, I cried all night."]
    await stage.sync(
        "c1",
        [
            line("m1", texts[0], Role.CHARACTER, sent_at=LONG_AGO),
            line("m2", texts[1], Role.CHARACTER, sent_at=now - timedelta(hours=1)),
            line("m3", "Hm."),
        ],
    )
    await stage.note("Her name is Ysolde.", permanent=True)
    await stage.note("hums", kind=MemoryKind.ACTION)
    got = await seen(stage)
    assert (got.memories, got.permanent, got.habits) == (3, 1, 1)
    assert got.today == 2
    assert got.felt is not None
    assert texts[1] in got.felt.text
    assert got.feeling is not None
    assert got.feeling.label == "sadness"


async def test_what_lies_in_the_bin_does_not_count(stage: Stage) -> None:
    made = await stage.note("Her name is Ysolde.", permanent=True)
    await stage.engine.memories.delete(ME, made.memory.id, "permanent")
    assert (await seen(stage)).permanent == (await seen(stage)).memories == 0
