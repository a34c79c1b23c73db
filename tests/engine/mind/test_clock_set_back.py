"""Does a clock that is set back by a day disturb anything?"""

from __future__ import annotations

import pytest

from soulmem.domain.dialogue import Role
from tests.engine.picture import picture
from tests.engine.stage import Stage, line, lines

DAY = 86_400.0


@pytest.mark.parametrize("back", [DAY, 400 * DAY])
async def test_play_goes_on_and_the_memory_is_that_of_a_clock_that_ran(
    stage: Stage, back: float
) -> None:
    """Chats, recalls that teach, rest and restart: as beside an engine whose clock was left alone."""
    steady = Stage()
    await steady.start()
    await steady.soul()
    for each_stage, moved in ((stage, -back), (steady, 0.0)):
        await each_stage.sync("c1", lines(12))
        await each_stage.recall("text of m3", "c1", slot="m13", swipe=0)
        await each_stage.engine.idle.run()
        each_stage.clock.advance(moved)
        await each_stage.sync(
            "c1", [*lines(12), line("m13", role=Role.CHARACTER), line("m14")]
        )
        await each_stage.recall("text of m5", "c1", slot="m15", swipe=0)
        await each_stage.sync(
            "c1", [*lines(12), line("m13", role=Role.CHARACTER), *lines(4, 14)]
        )
        await each_stage.note("by hand")
        await each_stage.engine.idle.run()
    moved_picture, steady_picture = (
        await picture(stage, "s1"),
        await picture(steady, "s1"),
    )
    assert (moved_picture["fingerprint"], moved_picture["branches"]) == (
        steady_picture["fingerprint"],
        steady_picture["branches"],
    )
    assert await stage.known("c1") == await steady.known("c1")
    uses = [
        sorted(usage.count for usage in each_picture["usages"].values())
        for each_picture in (moved_picture, steady_picture)
    ]
    assert uses[0] == uses[1] != []
    strengths = [edge.strength for edge in moved_picture["edges"].values()]
    assert strengths
    assert all(0.0 <= strength <= 1.0 for strength in strengths)
    recalled = await stage.recall("text of m5", "c1")
    assert any("text of m5" in memory.text for memory in recalled.memories)
    assert all(memory.age_turns >= 0 for memory in recalled.memories)
    await stage.restart()
    assert await stage.fingerprint() == moved_picture["fingerprint"]
    assert stage.engine.health().status == "ok"
    await steady.stop()
