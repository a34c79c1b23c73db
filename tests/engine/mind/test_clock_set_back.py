"""Does a clock that is set back by a day disturb anything?"""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.dialogue import Role
from tests.engine.picture import picture
from tests.engine.stage import Stage, line, lines

DAY = 86_400.0


async def play(stage: Stage, moved: float) -> None:
    """Chats, recalls that teach, and rest; half way the clock moves by so many seconds."""
    await stage.sync("c1", lines(12))
    # A busy machine cuts neither recall short.
    unhurried: dict[str, Any] = {"swipe": 0, "time_budget_ms": 20_000}
    await stage.recall("text of m3", "c1", slot="m13", **unhurried)
    await stage.engine.idle.run()
    stage.clock.advance(moved)
    reply = line("m13", role=Role.CHARACTER)
    await stage.sync("c1", [*lines(12), reply, line("m14")])
    await stage.recall("text of m5", "c1", slot="m15", **unhurried)
    await stage.sync("c1", [*lines(12), reply, *lines(4, 14)])
    await stage.note("by hand")
    await stage.engine.idle.run()


async def assert_recalled(stage: Stage) -> None:
    """A recall finds an old message, and no memory is younger than now."""
    memories = (await stage.recall("text of m5", "c1")).memories
    assert any("text of m5" in memory.text for memory in memories)
    assert all(memory.age_turns >= 0 for memory in memories)


@pytest.mark.parametrize("back", [DAY, 400 * DAY])
async def test_play_goes_on_and_the_memory_is_that_of_a_clock_that_ran(
    stage: Stage, back: float
) -> None:
    """Chats, recalls that teach, rest and restart: as beside an engine whose clock was left alone."""
    steady = Stage()
    await steady.start()
    await steady.soul()
    await play(stage, -back)
    await play(steady, 0.0)
    moved_picture, steady_picture = (
        await picture(stage, "s1"),
        await picture(steady, "s1"),
    )
    assert (moved_picture["fingerprint"], moved_picture["branches"]) == (
        steady_picture["fingerprint"],
        steady_picture["branches"],
    )
    assert await stage.known("c1") == await steady.known("c1")
    moved_uses = sorted(u.count for u in moved_picture["usages"].values())
    steady_uses = sorted(u.count for u in steady_picture["usages"].values())
    assert moved_uses == steady_uses != []
    strengths = [edge.strength for edge in moved_picture["edges"].values()]
    assert strengths
    assert 0.0 <= min(strengths) <= max(strengths) <= 1.0
    await assert_recalled(stage)
    await stage.restart()
    assert await stage.fingerprint() == moved_picture["fingerprint"]
    assert stage.engine.health().status != "degraded"
    await steady.stop()
