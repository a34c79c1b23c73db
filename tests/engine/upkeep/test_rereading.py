"""Texts in the store of an older version are analysed later."""

from __future__ import annotations

from dataclasses import replace

from soulmem.engine.mind.changes import MindChange
from soulmem.engine.propagation.linker import Steps
from tests.engine.stage import Stage, line

TEXTS = (
    "I met Kaelith by the well.",
    "Hm.",
    "Ask Kaelith about the lantern.",
    "A note on lanterns.",
)


async def remove_analysis(stage: Stage) -> None:
    """Make the stored texts look as if a version without text analysis had written them."""
    world, mind = await stage.world(), await stage.mind()
    plain = tuple(
        replace(m, terms=(), names=())
        for m in mind.memories.values()
        if not m.is_learned_name
    )
    async with world.writing as token:
        change = await world.linker.with_mentions(
            token, mind, MindChange(put_memories=plain)
        )
        await world.carry_out(token, mind, Steps([change]))


async def test_an_older_store_is_read_in_a_quiet_moment() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    await stage.sync(
        "c1", [*(line(f"m{i}", text) for i, text in enumerate(TEXTS)), line("end")]
    )
    await stage.note("The lantern of Kaelith.")
    mind = await stage.mind()
    expected = (
        await stage.fingerprint(),
        dict(mind.memories),
        {(e.source, e.target) for e in mind.edges.every()},
    )
    await remove_analysis(stage)
    assert not any(m.terms or m.names for m in mind.memories.values())
    await stage.restart()
    mind = await stage.mind()
    await stage.engine.idle.run()
    assert {
        key: replace(m, created=expected[1][key].created)
        for key, m in mind.memories.items()
    } == expected[1]
    assert {(e.source, e.target) for e in mind.edges.every()} == expected[2]
    assert await stage.fingerprint() == expected[0]
    await stage.stop()
