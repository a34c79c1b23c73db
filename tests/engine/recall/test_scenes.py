"""How long ago it was stands above what is told: by real days, or by those of the story that a soul lives by."""

from __future__ import annotations

from datetime import timedelta

from soulmem.domain.soul import SoulClock
from soulmem.engine.api.requests import RecallType
from tests.engine.stage import Stage, line


async def told(stage: Stage) -> str:
    """What the block of episodes says under its header."""
    answer = await stage.recall("The silver flag", type=RecallType.QUIET, restraint=0.0)
    [block] = [block for block in answer.blocks if block.section == "episodes"]
    assert [item.scene for item in block.items if item.scene] or "ago" not in block.text
    return block.text.split("\n", 1)[1]


async def test_by_real_days() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    now = stage.clock.now()
    texts = ((40, "We took the silver flag."), (40, "The flag tore."), (0, "No flag."))
    lines = [
        line(f"m{n}", text, sent_at=now - timedelta(days=days, minutes=9 - n))
        for n, (days, text) in enumerate(texts)
    ]
    await stage.sync("c1", lines)
    await stage.close("c1")
    assert await told(stage) == (
        "40 days ago:\nAl: We took the silver flag.\nAl: The flag tore.\nEarlier today:\nAl: No flag."
    )
    await stage.stop()


async def test_of_today_alone_nothing_is_said() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    await stage.sync("c1", [line("m1", "We took the silver flag."), line("m2", "Oh.")])
    await stage.close("c1")
    assert "today" not in await told(stage)
    await stage.stop()


async def test_by_the_story_that_the_soul_lives_by() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul(clock=SoulClock.STORY)
    feast = stage.clock.now() - timedelta(days=9000)
    lines = [
        line("m1", "We took the silver flag.", story_at=feast),
        line("m2", "The silver flag is lost.", story_at=feast + timedelta(days=3)),
        line("m3", "Look, a silver flag."),
    ]
    await stage.sync("c1", lines)
    await stage.close("c1")
    answer = await stage.recall("The silver flag", "c1", type=RecallType.QUIET, restraint=0.0)
    [block] = [block for block in answer.blocks if block.section == "episodes"]
    assert "3 days ago:\nAl: We took the silver flag." in block.text
    assert "At some time:\nAl: Look" in block.text
    await stage.stop()
