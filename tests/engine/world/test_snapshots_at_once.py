"""Idle and the stop may want the snapshot of one soul at the same time: its file stays whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from soulmem.adapters.snapshot_folder import SnapshotFolder
from soulmem.domain.ids import SoulId
from soulmem.engine.params import EngineParams
from soulmem.engine.world.snapshots import SnapshotParams
from tests.engine.stage import ME, Stage, lines

SOUL = SoulId("s1")


async def test_two_at_once_leave_a_whole_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    params = EngineParams(rest_by_itself=False, images=SnapshotParams(least=1, pause=0.0))
    folder = SnapshotFolder(tmp_path)
    stage = Stage(params=params, images=folder)
    await stage.start()
    await stage.soul()
    await stage.sync("c1", lines(60))
    (world,) = stage.engine.worlds.all()
    mind = await world.mind(SOUL)
    keeper = stage.engine.snapshots
    await asyncio.gather(*(keeper.update(world, mind, last=True) for _ in range(3)))
    mark = await stage.engine.services.store.marked(ME, SOUL)
    assert mark is not None
    assert await asyncio.to_thread(folder.read, ME, SOUL, mark.token) is not None
    assert not [record for record in caplog.records if "image" in record.message]
    await stage.stop()
