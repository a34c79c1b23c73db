"""Which souls get a snapshot: those with much to open, of which forgotten memories are a small part."""

from __future__ import annotations

import pytest

from soulmem.domain.memories import MemoryState
from soulmem.engine.params import EngineParams
from soulmem.engine.world.snapshots import SnapshotParams
from tests.engine.stage import Stage, line, lines
from tests.fakes.images import FakeImages

_DAY = 86_400  # seconds


async def images_of(least: int, keep: int) -> tuple[int, int]:
    """How many snapshots a soul with 300 messages has, and how many of these it forgot."""
    images = FakeImages()
    params = EngineParams(rest_by_itself=False, images=SnapshotParams(least=least, pause=0.0))
    stage = Stage(params=params, images=images)
    await stage.start()
    await stage.soul(keep=keep)
    await stage.sync("c1", [*lines(299), line("end", "Hm.")])
    stage.clock.advance(_DAY)
    await stage.engine.idle.run()
    await stage.engine.idle.run()
    forgotten = await stage.listed(MemoryState.BIN)
    await stage.stop()
    return len(images.kept), len(forgotten)


@pytest.mark.parametrize(("keep", "snapshots"), [(1000, 1), (100, 0)])
async def test_forgotten_memories_hardly_count(keep: int, snapshots: int) -> None:
    # 300 messages and as many links, of which 100 messages and their links are left
    assert await images_of(500, keep) == (snapshots, max(300 - keep, 0))


async def test_they_count_where_they_are_many() -> None:
    assert (await images_of(240, 100))[0] == 1
