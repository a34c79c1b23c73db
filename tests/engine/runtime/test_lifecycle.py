"""When the engine becomes Idle, and what moves its clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from soulmem.adapters.system_clock import MovableClock
from soulmem.domain.errors import NotFound, StoreError, Unprocessable
from soulmem.domain.ids import ChatId, SoulId
from soulmem.engine.api.requests import Activity
from soulmem.engine.runtime import lifecycle
from soulmem.engine.runtime.lifecycle import Lifecycle, Phase
from soulmem.engine.wiring import Ports, wire_engine
from tests.engine.stage import ME, Stage, lines
from tests.fakes.clock import StillClock
from tests.fakes.spool import FakeSpool
from tests.fakes.store import FakeStore


class IdleCounter:
    """A lifecycle whose Idle work is counted; it becomes Idle after 50 ms."""

    def __init__(self) -> None:
        self.count = 0
        self.fails = False
        self.life = Lifecycle(0.05, self.work)

    async def work(self) -> None:
        """Count a run of the Idle work."""
        self.count += 1
        if self.fails:
            raise StoreError("the disk is full")

    async def rests(self, seconds: float = 2.0) -> bool:
        """Whether the Idle work runs within that time."""
        before = self.count
        for _ in range(int(seconds / 0.01)):
            await asyncio.sleep(0.01)
            if self.count > before:
                return True
        return False


@pytest.fixture
async def rest(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[IdleCounter]:
    """A lifecycle that checks every 10 ms."""
    monkeypatch.setattr(lifecycle, "_CHECK_SECONDS", 0.01)
    counter = IdleCounter()
    counter.life.start()
    yield counter
    await counter.life.stop()


async def test_silence_brings_idle_once(rest: IdleCounter) -> None:
    """The work is done once; a request brings Working back, and the next silence another rest."""
    phases = [rest.life.phase]
    assert await rest.rests()
    phases.append(rest.life.phase)
    assert not await rest.rests(0.2)
    rest.life.touched()
    phases.append(rest.life.phase)
    assert await rest.rests()
    assert phases == [Phase.WORKING, Phase.IDLE, Phase.WORKING]


async def test_nobody_rests_while_a_reply_is_written(rest: IdleCounter) -> None:
    """Until all chats that were writing are done; a client that died is forgotten after five minutes."""
    rest.life.generating("me", "c1", True)
    rest.life.generating("me", "c2", True)
    rest.life.generating("me", "c1", False)
    assert not await rest.rests(0.2)
    rest.life.generating("me", "c2", False)
    assert await rest.rests()


async def test_a_client_that_died_while_writing_is_forgotten(
    rest: IdleCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the longest time a reply may take."""
    monkeypatch.setattr(lifecycle, "_GENERATING_SECONDS", 0.1)
    rest.life.generating("me", "c1", True)
    assert await rest.rests()


async def test_idle_work_that_fails_is_tried_at_the_next_rest(
    rest: IdleCounter,
) -> None:
    """It does not end the watch."""
    rest.fails = True
    assert await rest.rests()
    rest.life.touched()
    assert await rest.rests()


async def test_activity_is_of_a_known_chat(stage: Stage) -> None:
    """And `closed` alone settles."""
    with pytest.raises(NotFound):
        await stage.engine.chats.activity(ME, ChatId("c9"), Activity.GENERATING)
    await stage.sync("c1", lines(2))
    for state in (Activity.GENERATING, Activity.TYPING, Activity.IDLE):
        await stage.engine.chats.activity(ME, ChatId("c1"), state)
        assert len(await stage.known("c1")) == 1
    await stage.close("c1")
    assert len(await stage.known("c1")) == 2


async def test_only_a_clock_that_moves_can_be_moved() -> None:
    """Wall time and turns in test mode, a refusal otherwise."""
    clock = MovableClock()
    before = clock.now()
    movable = wire_engine(
        Ports(
            store=FakeStore(),
            clock=clock,
            model=None,
            fallback=None,
            advance=clock.advance,
            spool=FakeSpool(),
        )
    )
    await movable.advance_clock(3600, 5)
    assert 3600 <= (clock.now() - before).total_seconds() < 3700
    assert clock.extra_turns == 5
    fixed = wire_engine(
        Ports(
            store=FakeStore(),
            clock=StillClock(),
            model=None,
            fallback=None,
            spool=FakeSpool(),
        )
    )
    with pytest.raises(Unprocessable):
        await fixed.advance_clock(1, 0)


async def test_a_soul_is_created_changed_and_listed(stage: Stage) -> None:
    """None leaves what is stored; the second value tells whether it is new."""
    soul, is_new = await stage.engine.souls.put(ME, SoulId("s2"), "Tom", None, None)
    assert is_new
    changed, is_new = await stage.engine.souls.put(ME, SoulId("s2"), "Thomas", None, None)
    assert not is_new
    assert (changed.name, changed.created) == ("Thomas", soul.created)
    await stage.restart()
    assert [s.name for s in await stage.engine.souls.list(ME)] == ["Mira", "Thomas"]
    with pytest.raises(NotFound):
        await stage.engine.souls.get(ME, SoulId("s3"))


async def test_what_had_to_wait_goes_on_in_the_same_quiet_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lifecycle, "_CHECK_SECONDS", 0.01)
    done: list[str] = []

    async def work() -> None:
        done.append("all")

    async def more() -> None:
        done.append("more")
        if len(done) == 2:
            raise StoreError("the disk is full")

    life = Lifecycle(0.05, work, more)
    life.start()
    for _ in range(200):
        await asyncio.sleep(0.01)
        if len(done) > 4:
            break
    await life.stop()
    assert done[:5] == ["all", "more", "more", "more", "more"]
