"""When backups are made, and the notes when they cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from soulmem.domain.errors import StoreError, StoreFull
from soulmem.domain.ids import SoulId
from soulmem.engine.engine import Engine
from soulmem.engine.params import EngineParams
from soulmem.engine.runtime.jobs import ENDED, JobState, JobView
from soulmem.engine.wiring import Ports, wire_engine
from tests.engine.stage import ME, Stage
from tests.fakes.clock import StillClock
from tests.fakes.spool import FakeSpool
from tests.fakes.store import FakeStore


class FakeBackups:
    """Moments of backups; `failure` is raised while it is set."""

    def __init__(self) -> None:
        self.made: list[datetime] = []
        self.failure: StoreError | None = None

    async def last(self, before: datetime) -> datetime | None:
        return max((at for at in self.made if at <= before), default=None)

    async def make(self, now: datetime) -> str:
        if self.failure is not None:
            raise self.failure
        self.made.append(now)
        return f"backup {len(self.made)}"


async def ended(engine: Engine, job: str) -> JobView:
    """The job when it is over."""
    for _ in range(2000):
        view = engine.jobs.get(ME, job)
        if view.state in ENDED:
            return view
        await asyncio.sleep(0.002)
    raise AssertionError(view)


class BackupStage:
    """An engine whose store has backups."""

    def __init__(self, backups: FakeBackups | None, *, daily: bool = True) -> None:
        self.clock = StillClock()
        params = EngineParams(rest_by_itself=False, daily_backups=daily)
        self.engine = wire_engine(
            Ports(
                store=FakeStore(),
                clock=self.clock,
                model=None,
                fallback=None,
                params=params,
                spool=FakeSpool(),
                backups=backups,
            )
        )

    async def ended(self, job: str) -> JobView:
        """The job when it is over."""
        return await ended(self.engine, job)


@pytest.fixture
def backups() -> FakeBackups:
    """No backup yet."""
    return FakeBackups()


@pytest.fixture
async def kept(backups: FakeBackups) -> AsyncIterator[BackupStage]:
    """An engine with one soul."""
    backup_stage = BackupStage(backups)
    await backup_stage.engine.start()
    await backup_stage.engine.souls.put(ME, SoulId("s1"), "Mira", None, None)
    yield backup_stage
    await backup_stage.engine.stop()


async def test_one_a_day_while_it_rests(kept: BackupStage, backups: FakeBackups) -> None:
    hours: list[int] = []
    for hour in range(0, 73):
        await kept.engine.idle.run()
        if len(backups.made) > len(hours):
            hours.append(hour)
        kept.clock.advance(3600)
    assert hours == [0, 24, 48, 72]


async def test_a_clock_set_back_stops_none(kept: BackupStage, backups: FakeBackups) -> None:
    """Copies of the future are none, and do not come every time either."""
    backups.made = [kept.clock.now() + timedelta(days=400)]
    for _ in range(3):
        await kept.engine.idle.run()
        kept.clock.advance(3600)
    assert len(backups.made) == 2


async def test_a_full_disk_is_a_note_and_play_goes_on(
    kept: BackupStage, backups: FakeBackups
) -> None:
    backups.failure = StoreFull("no backup was made: 300 MiB must be free")
    await kept.engine.idle.run()
    health = kept.engine.health()
    assert (health.store_state, health.notes) == (
        "ok",
        ("no backup was made: 300 MiB must be free",),
    )
    await kept.engine.souls.put(ME, SoulId("s1"), "Mirabel", None, None)
    backups.failure = None
    await kept.engine.idle.run()
    assert (len(backups.made), kept.engine.health().notes) == (1, ())


async def test_one_can_be_asked_for_at_any_time(kept: BackupStage, backups: FakeBackups) -> None:
    await kept.engine.idle.run()
    job = await kept.engine.jobs.ask(ME, "backup", SoulId("s1"), {})
    view = await kept.ended(job)
    assert (view.state, view.result) == (JobState.DONE, {"file": "backup 2"})
    backups.failure = StoreFull("no room")
    view = await kept.ended(await kept.engine.jobs.ask(ME, "backup", SoulId("s1"), {}))
    assert (view.state, view.error) == (JobState.FAILED, "no room")


async def test_none_daily_when_none_are_wanted(backups: FakeBackups) -> None:
    backup_stage = BackupStage(backups, daily=False)
    await backup_stage.engine.start()
    await backup_stage.engine.idle.run()
    assert backups.made == []
    await backup_stage.engine.stop()


async def test_a_store_without_backups_says_so() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    await stage.engine.idle.run()
    job = await stage.engine.jobs.ask(ME, "backup", SoulId("s1"), {})
    view = await ended(stage.engine, job)
    assert view.state is JobState.FAILED
    assert view.error is not None
    assert "keeps no backups" in str(view.error)
    await stage.stop()
