"""What is loaded first of a large soul: what is recalled most, then the newest, and all that is permanent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from soulmem.domain.ids import MemoryId
from soulmem.engine.world.edge_loader import _hot_memories
from tests.engine.stage import Stage, lines


async def test_the_most_recalled_the_newest_and_the_permanent_ones(
    stage: Stage,
) -> None:
    await stage.soul()
    start = stage.clock.now()
    await stage.sync(
        "c",
        [
            replace(message, sent_at=start + timedelta(minutes=i))
            for i, message in enumerate(lines(9))
        ],
    )
    await stage.close("c")
    mind = await stage.mind()
    speakers = ("Mira", "Al")
    keys = [await stage.find(f"{speakers[i % 2]}: text of m{i}") for i in range(1, 10)]

    async def hot(count: int) -> set[MemoryId]:
        return set(await asyncio.to_thread(_hot_memories, mind, count))

    assert await hot(0) == set()
    assert await hot(1) == {keys[8]}
    assert await hot(3) == set(keys[6:])
    recalled = [keys[0], keys[1]]
    mind.recalls.hot = lambda count: recalled[:count]  # type: ignore[method-assign]
    assert await hot(1) == {keys[0]}
    assert await hot(2) == {keys[0], keys[1]}
    assert await hot(3) == {keys[0], keys[1], keys[8]}
    note = (await stage.note("The key is lost.", permanent=True)).memory.id
    assert await hot(1) == {keys[0], note}
