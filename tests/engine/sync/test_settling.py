"""The last message of a chat is settled when the chat is left, or has not changed for a while, and once only."""

from __future__ import annotations

from datetime import timedelta

from soulmem.domain.ids import ChatId
from soulmem.ports.store import Change
from tests.engine.stage import ME, Stage, line, lines
from tests.fakes.store import FakeStore


class CountingStore(FakeStore):
    """Counts the changes that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.commits = 0

    async def commit(self, change: Change) -> None:
        self.commits += 1
        await super().commit(change)


async def counted_stage() -> tuple[Stage, CountingStore]:
    store = CountingStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    return stage, store


async def is_settled(stage: Stage, chat: str = "c") -> bool:
    log = await (await stage.world()).log(ChatId(chat))
    assert log is not None
    return log.head.settled_tail == log.messages[-1].version and log.head.tail_since is None


async def test_leaving_a_chat_settles_its_last_message_once() -> None:
    stage, store = await counted_stage()
    await stage.sync("c", lines(4))
    assert not await is_settled(stage)
    before = store.commits
    await stage.close("c")
    assert await is_settled(stage)
    assert store.commits > before
    before = store.commits
    await stage.close("c")
    assert store.commits == before
    await stage.sync("c", lines(5))
    assert not await is_settled(stage)
    await stage.close("c")
    assert await is_settled(stage)
    for shown in (lines(6), lines(5), [*lines(4), line("m5", "another reply")]):
        await stage.sync("c", shown)
        await stage.close("c")
        assert await is_settled(stage)
    await stage.stop()


async def test_a_last_message_that_was_settled_before_is_settled_again() -> None:
    stage, _ = await counted_stage()
    await stage.sync("c", lines(4))
    await stage.close("c")
    await stage.sync("c", lines(5))
    await stage.sync("c", lines(4))
    await stage.close("c")
    assert await is_settled(stage)
    await stage.stop()


async def test_a_last_message_that_has_not_changed_for_long_enough_is_settled() -> None:
    stage, store = await counted_stage()
    await stage.sync("c", lines(4))
    world, pause = await stage.world(), timedelta(minutes=10)
    writer = stage.engine.chats.writer
    stage.clock.advance(599.0)
    await writer.settle_due(world, pause)
    assert not await is_settled(stage)
    stage.clock.advance(1.0)
    await writer.settle_due(world, pause)
    assert await is_settled(stage)
    before = store.commits
    stage.clock.advance(6000.0)
    await writer.settle_due(world, pause)
    assert store.commits == before
    await stage.stop()


async def test_a_chat_in_the_bin_or_without_messages_is_not_settled() -> None:
    stage, store = await counted_stage()
    await stage.sync("empty", [])
    await stage.sync("c", lines(4))
    await stage.engine.chats.delete(ME, ChatId("c"))
    before = store.commits
    await stage.close("empty")
    stage.clock.advance(6000.0)
    writer = stage.engine.chats.writer
    await writer.settle_due(await stage.world(), timedelta(minutes=10))
    assert store.commits == before
    await stage.stop()
