"""A soul that nobody uses leaves memory, and the next request finds it as it was."""

from __future__ import annotations

import asyncio
import gc
import random
import weakref

import pytest

from soulmem.domain.errors import StoreFull
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryState
from soulmem.engine.api.requests import Activity
from soulmem.engine.params import EngineParams
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.upkeep.closing import ClosingParams
from soulmem.engine.world.snapshots import SnapshotParams
from soulmem.ports.store import Change
from tests.engine.picky_store import PickyStore
from tests.engine.picture import picture
from tests.engine.stage import ME, Stage, line, lines, until
from tests.examples import sized
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.images import FakeImages
from tests.fakes.token_store import FakeTokenStore

SOUL = SoulId("s1")
DAY = 86_400.0
SHORT = 1e-9  # seconds: whatever is not used at this very moment is unused


def closing_stage(after: float = SHORT, look_after: float = DAY, **more: object) -> Stage:
    """A stage whose souls close after so many seconds; nothing rests by itself."""
    params = EngineParams(
        rest_by_itself=False,
        closing=ClosingParams(after=after, look_after=look_after),
        images=SnapshotParams(least=1),
    )
    return Stage(params=params, **more)  # type: ignore[arg-type]


async def lived_stage(**more: object) -> Stage:
    """A stage with a soul that has a chat, a note and something in the bin."""
    stage = closing_stage(**more)  # type: ignore[arg-type]
    await stage.start()
    await stage.soul()
    await stage.sync("c", [line("a1", "the lantern is under the bridge"), *lines(8)])
    await stage.note("a lantern needs oil")
    binned = await stage.note("the lantern is broken")
    await stage.engine.memories.delete(ME, binned.memory.id, None)
    loading = stage.engine.learner._loading
    assert loading is not None
    await loading  # it looks at all minds
    return stage


async def is_open(stage: Stage, soul: SoulId = SOUL) -> bool:
    """As clients are told."""
    return soul in await stage.engine.souls.in_memory(ME)


async def test_an_unused_soul_closes_and_a_request_opens_it_as_it_was(
    engines_freeze: None,
) -> None:
    images, tokens = FakeImages(), FakeTokenStore()
    embedder = FakeEmbedder()
    stage = await lived_stage(model=embedder.source(), images=images, tokens=tokens)
    await stage.engine.embedding.wait_pending()
    before = await picture(stage, "s1")
    mind = weakref.ref(await stage.mind())
    gc.freeze()  # as the engine does: a cycle would never be found
    await stage.engine.idle.run()

    assert not await is_open(stage)
    assert (ME, SOUL) in images.kept
    # A thread that has just worked for it lets go a moment later; whoever holds it for good fails here.
    await until(lambda: mind() is None)
    embedder.asked.clear()
    answer = await stage.recall("where is the lantern?", "c")
    assert await is_open(stage)
    assert images.given == 1
    assert any("bridge" in memory.text for memory in answer.memories)
    assert await picture(stage, "s1") == before
    assert embedder.asked == ["where is the lantern?"]
    await stage.stop()


async def test_a_soul_in_use_stays_open_and_zero_closes_none() -> None:
    for after in (3600.0, 0.0):
        stage = await lived_stage(after=after)
        await stage.engine.idle.run()
        assert await is_open(stage)
        await stage.stop()


async def test_only_the_unused_soul_closes_with_the_chats_of_it_alone() -> None:
    stage = await lived_stage(after=3600.0)
    await stage.soul("s2", "Ann")
    await stage.sync("both", lines(4, 60), souls=("s1", "s2"))
    world = await stage.world()
    world.use._last[SOUL] = float("-inf")
    await stage.engine.idle.run()

    assert await stage.engine.souls.in_memory(ME) == {"s2"}
    assert world.loaded_log(ChatId("c")) is None
    assert world.loaded_log(ChatId("both")) is not None
    assert "the lantern is under the bridge" in str(await stage.known("c"))
    await stage.stop()


async def test_what_is_written_to_a_closed_soul_is_kept() -> None:
    """A sync, a memory by hand, new settings: each opens the soul, and a replay in one go gives the same."""
    stage = await lived_stage()
    everything = [line("a1", "the lantern is under the bridge"), *lines(12)]
    await stage.engine.idle.run()
    await stage.sync("c", everything)
    await stage.engine.idle.run()
    assert not await is_open(stage)
    await stage.note("oil is dear")
    await stage.engine.idle.run()
    await stage.soul(name="Mirabel")
    await stage.engine.idle.run()
    kept = await stage.fingerprint()
    assert "oil is dear" in [m.text for m in await stage.listed()]
    assert (await stage.mind()).soul.name == "Mirabel"
    entries = await stage.engine.history.audit(ME, SOUL, None, 50, None)
    assert entries.entries
    await stage.stop()

    fresh = closing_stage(after=0.0)
    await fresh.start()
    await fresh.soul(name="Mirabel")
    await fresh.sync("c", everything)
    assert await fresh.fingerprint() == kept
    await fresh.stop()


async def test_requests_that_race_with_the_closing_lose_nothing() -> None:
    """Syncs, recalls and closings in any order, at once; the soul ends as one that was never closed."""
    draw = random.Random(5)
    stage = await lived_stage(images=FakeImages())
    script = [line("a1", "the lantern is under the bridge"), *lines(60)]

    closed: list[int] = []

    async def close() -> None:
        await asyncio.sleep(0)
        closed.append(await stage.engine.idle.closing.run_idle([await stage.world()]))

    async def ask() -> None:
        for _ in range(draw.randrange(4)):
            await asyncio.sleep(0)
        answer = await stage.recall("where is the lantern?", "c", time_budget_ms=60_000)
        assert not answer.timed_out
        assert any("lantern" in memory.text for memory in answer.memories)

    rounds = range(9, 60, sized(6, 3))
    for count in rounds:
        await asyncio.gather(close(), ask(), stage.sync("c", script[:count]), close(), ask())
        await stage.engine.embedding._quiet.wait()
        await close()
    assert sum(closed) > 10 / 17 * len(rounds)
    await stage.stop()

    fresh = closing_stage(after=0.0)
    await fresh.start()
    await fresh.soul()
    await fresh.sync("c", script[:57])
    stage = Stage(stage.store)
    await stage.start()
    assert await stage.known("c") == sorted([*await fresh.known("c"), "a lantern needs oil"])
    await fresh.stop()
    await stage.stop()


async def test_a_recall_while_the_image_is_written_keeps_the_soul_open() -> None:
    stage = await lived_stage(images=FakeImages(), after=3600.0)
    closing, world = stage.engine.idle.closing, await stage.world()
    update, began, go_on = closing.snapshots.update, asyncio.Event(), asyncio.Event()

    async def slow(*arguments: object, **more: object) -> None:
        began.set()
        await go_on.wait()
        await update(*arguments, **more)  # type: ignore[arg-type]

    closing.snapshots.update = slow  # type: ignore[method-assign]
    world.use._last[SOUL] = float("-inf")
    work = asyncio.create_task(closing.run_idle([world]))
    await began.wait()
    await stage.recall("where is the lantern?", "c")
    go_on.set()
    assert await work == 0
    assert await is_open(stage)
    await stage.stop()


async def test_a_job_keeps_the_soul_open_until_it_has_ended() -> None:
    stage = await lived_stage()
    go_on = asyncio.Event()

    async def wait(run: JobRun) -> None:
        await go_on.wait()

    stage.engine.jobs.register(JobKind("wait", wait))
    job = await stage.engine.jobs.start(ME, "wait", SOUL, {})
    await stage.engine.idle.run()
    assert await is_open(stage)
    go_on.set()
    await stage.engine.jobs.finished(ME, job)
    await stage.engine.idle.run()
    assert not await is_open(stage)
    await stage.stop()


async def test_texts_that_cannot_be_embedded_do_not_keep_the_soul_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And they are embedded once the model works again."""
    monkeypatch.setattr("soulmem.engine.vectors.embedder._RETRY_SECONDS", 0.1)
    embedder = FakeEmbedder()
    embedder.fails = True
    stage = await lived_stage(model=embedder.source())
    await stage.engine.idle.run()
    assert not await is_open(stage)
    pending = stage.engine.health().pending
    assert pending > 0
    embedder.fails = False
    await stage.recall("where is the lantern?", "c")
    assert stage.engine.health().pending <= pending
    await stage.engine.embedding.wait_pending()
    for _ in range(400):
        if not stage.engine.health().pending:
            break
        await asyncio.sleep(0.05)
    assert stage.engine.health().pending == 0
    await stage.stop()


async def test_repairs_that_wait_for_disk_space_keep_the_soul_open() -> None:
    store = PickyStore()
    stage = await lived_stage(store=store)
    some = next(iter((await stage.mind()).memories.values()))
    world = await stage.world()
    store.refuses = StoreFull("the disk is full")
    async with world.writing as token:
        await world.pending_writes.commit(token, SOUL, Change(ME, put_memories=[some]))
    await stage.engine.idle.closing.run_idle([world])
    assert await is_open(stage)
    store.refuses = None
    await stage.stop()


async def test_once_a_day_the_bin_of_a_closed_soul_is_looked_at() -> None:
    stage = await lived_stage(look_after=0.0)
    await stage.engine.idle.run()
    assert not await is_open(stage)
    stage.clock.advance(6.1 * DAY, 0)
    await stage.engine.idle.run()
    assert "1 memory leaves" in str(stage.engine.health().notes[0])
    stage.clock.advance(DAY, 0)
    await stage.engine.idle.run()
    assert not await is_open(stage)
    assert await stage.listed(MemoryState.BIN) == []
    await stage.stop()


async def test_a_closed_soul_stays_closed_while_others_rest() -> None:
    stage = await lived_stage()
    await stage.engine.idle.run()
    await stage.engine.idle.run()
    assert not await is_open(stage)
    health = stage.engine.health()
    assert (health.souls_open, health.souls_closed) == (0, 1)
    await stage.engine.souls.delete(ME, SOUL, "Mira")
    assert stage.engine.health().souls_closed == 0
    await stage.stop()


async def test_who_types_finds_the_soul_open() -> None:
    stage = await lived_stage()
    await stage.engine.idle.run()
    await stage.engine.chats.activity(ME, ChatId("c"), Activity.TYPING)
    for _ in range(200):
        if await is_open(stage):
            break
        await asyncio.sleep(0.01)
    assert await is_open(stage)
    await stage.stop()
