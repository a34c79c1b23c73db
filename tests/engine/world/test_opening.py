"""Recall while a soul is being opened: a part of the later answer, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

import pytest

from soulmem.domain.edges import EdgePage
from soulmem.domain.errors import StoreDamaged
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import Memory, MemoryState, Timelines
from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallParams, build_context, build_query
from soulmem.ports.store import Change
from tests.engine.picky_store import PickyStore
from tests.engine.picture import picture
from tests.engine.stage import ME, Stage, line, lines

SOUL = SoulId("s1")


class SlowStore(PickyStore):
    """Gives one memory or edge per allowed step; with `held` None all at once."""

    def __init__(self) -> None:
        super().__init__()
        self.held: asyncio.Semaphore | None = None
        self.given = 0

    async def memory_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[Sequence[Memory]]:
        async for page in super().memory_pages(owner, soul):
            for memory in page:
                await self._step()
                yield [memory]

    async def edge_pages(self, owner: Owner, soul: SoulId) -> AsyncIterator[EdgePage]:
        async for page in super().edge_pages(owner, soul):
            for at in range(len(page.id)):
                await self._step()
                yield page.pick([at])

    async def _step(self) -> None:
        if self.held is not None:
            await self.held.acquire()
        self.given += 1


async def stage_with_chats() -> tuple[Stage, SlowStore]:
    """A stage whose soul has two branches, a binned chat, a quarantined loss and
    memories made by hand.
    """
    store = SlowStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul(scope="chat")
    root = [line("a1", "the lantern is under the bridge"), *lines(6)]
    await stage.sync("root", root)
    await stage.sync("left", [*root[:4], *lines(4, 50)], parent=("root", root[3].slot))
    await stage.sync("gone", [line("g1", "the lantern was stolen"), *lines(3, 80)])
    await stage.engine.chats.delete(ME, (await stage.engine.chats.list(ME, None))[-1][0].id)
    await stage.sync("lost", lines(30, 100))
    assert (await stage.sync("lost", lines(2, 100))).held == 28
    await stage.note("a lantern needs oil")
    await stage.note("here only: lantern", timelines=Timelines.THIS, chat="left")
    binned = await stage.note("the lantern is broken")
    await stage.engine.memories.delete(ME, binned.memory.id, None)
    some = next(iter((await stage.mind()).memories.values()))
    orphan = replace(some, id=MemoryId("e-orphan"), text="a lantern that no chat tells of")
    await store.commit(Change(ME, put_memories=[orphan]))
    return stage, store


def next_step_taken(store: SlowStore, opening: asyncio.Task[Mind]) -> Callable[[], bool]:
    """A check whether one more step was taken since this call."""
    steps_before = store.given
    return lambda: opening.done() or store.given > steps_before


async def until(is_so: Callable[[], bool]) -> None:
    """Let other tasks run until the check is true."""
    for _ in range(100_000):
        if is_so():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came so far")


async def visible_by_chat(stage: Stage, mind: Mind) -> dict[str | None, set[MemoryId]]:
    """The memories of a mind that a recall may show, by chat."""
    world = await stage.world()
    out: dict[str | None, set[MemoryId]] = {}
    for chat in (None, *world.heads):
        request = RecallRequest(SOUL, chat)
        scene = await stage.engine.services.compute.run(
            build_context,
            world,
            mind,
            request,
            build_query(world, request),
            RecallParams(),
            0,
            stage.clock.now(),
        )
        out[chat] = {mind.memory_at(int(row)).id for row in scene.visible.nonzero()[0]}
    return out


async def test_at_no_time_more_is_seen_than_in_the_end() -> None:
    stage, store = await stage_with_chats()
    expected = await picture(stage, "s1")
    store.held = asyncio.Semaphore(0)
    await stage.restart()
    world = await stage.world()
    opening = asyncio.create_task(world.mind(SOUL))
    partial = []
    while not opening.done():
        more = next_step_taken(store, opening)
        store.held.release()
        await until(more)
        if (mind := world.opening.get(SOUL)) is not None:
            partial.append(await visible_by_chat(stage, mind))
    final = await visible_by_chat(stage, await opening)
    assert len(partial) > 50
    for some in partial:
        assert all(some[chat] <= final[chat] for chat in final)
    sizes = [sum(map(len, some.values())) for some in partial]
    assert sizes[0] < 10  # and what is loaded is seen at once
    assert sizes[len(sizes) // 3] > 10
    assert await picture(stage, "s1") == expected
    await stage.stop()


async def test_a_recall_answers_from_what_is_loaded_and_says_so() -> None:
    stage, store = await stage_with_chats()
    store.held = asyncio.Semaphore(0)
    await stage.restart()
    world = await stage.world()
    opening = asyncio.create_task(world.mind(SOUL))
    empty = await stage.recall("lantern", "root", time_budget_ms=50)
    assert (empty.memories, empty.timed_out) == ((), True)
    for _ in range(12):
        store.held.release()
    await until(lambda: store.given == 12)
    (told,) = stage.engine.health().opening
    stored = await store.memory_count(ME)
    assert (told.soul, told.name, told.of) == (SOUL, "Mira", stored)
    assert 0 < told.memories <= 12 < stored
    early = await stage.recall("lantern bridge", "root", time_budget_ms=50)
    assert [m.text for m in early.memories if "bridge" in m.text] == [
        "Al: the lantern is under the bridge"
    ]
    assert early.timed_out
    assert not any(
        "stolen" in m.text or "broken" in m.text or "here only" in m.text for m in early.memories
    )
    trace = await stage.engine.recaller.trace(ME, early.trace)
    assert any("still being read" in note for note in trace.notes)

    for _ in range(1000):
        store.held.release()
    await opening
    assert stage.engine.health().opening == ()
    full = await stage.recall("lantern bridge", "root")
    assert not full.timed_out
    assert {m.id for m in early.memories} <= {m.id for m in full.memories}
    assert "a lantern needs oil" in {m.text for m in full.memories}
    assert not any(
        "still being read" in n for n in (await stage.engine.recaller.trace(ME, full.trace)).notes
    )
    await stage.stop()


async def test_what_cannot_be_read_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a failure of the store in between no mind is half open."""
    stage, store = await stage_with_chats()
    await stage.restart()
    world = await stage.world()
    world.unload(SOUL)
    whole = store.edge_pages
    with monkeypatch.context() as patch:
        patch.setattr(store, "edge_pages", lambda owner, soul: failing_pages())
        with pytest.raises(StoreDamaged, match="RuntimeError"):
            await world.mind(SOUL)
        assert SOUL not in world.opening
    assert store.edge_pages == whole
    mind = await world.mind(SOUL)
    assert sum(m.state is MemoryState.ACTIVE for m in mind.memories.values()) > 10
    await stage.stop()


async def failing_pages() -> AsyncIterator[EdgePage]:
    raise RuntimeError("torn")
    yield
