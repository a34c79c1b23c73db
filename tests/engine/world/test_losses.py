"""Quarantine, the bin and the return of memories when much or all of a chat goes away."""

from __future__ import annotations

import pytest

from soulmem.domain.errors import ConfirmationRequired, NotFound
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryState, Origin
from soulmem.engine.api.requests import MemoryPatch, RecallRequest, SyncAnswer
from tests.engine.stage import ME, Stage, as_told, line, lines


async def test_a_sudden_loss_is_hidden_at_once_and_removed_on_a_word(
    either_stage: Stage,
) -> None:
    """Quarantined: hidden from recall, nothing removed, fingerprint and chat unchanged;
    then confirmed.
    """
    await either_stage.sync("c1", lines(24))
    before = await either_stage.fingerprint()
    assert await either_stage.sync("c1", lines(8)) == SyncAnswer(applied=False, held=16)
    assert await either_stage.known("c1") == as_told(lines(8))
    assert await either_stage.fingerprint() == before
    assert len((await either_stage.engine.chats.get(ME, ChatId("c1")))[1]) == 24
    answer = await either_stage.sync("c1", lines(8), confirm=True)
    assert answer == SyncAnswer(removed=16)
    assert await either_stage.known("c1") == as_told(lines(8))
    assert len(await either_stage.listed()) == 8


async def test_a_held_loss_is_released_when_the_messages_are_back(stage: Stage) -> None:
    """The client shows everything again: nothing was lost."""
    await stage.sync("c1", lines(24))
    before = await stage.fingerprint()
    await stage.sync("c1", lines(8))
    assert await stage.sync("c1", lines(24)) == SyncAnswer()
    assert await stage.known("c1") == as_told(lines(23))
    assert await stage.fingerprint() == before


async def test_a_hold_survives_a_restart(stage: Stage) -> None:
    """The messages stay hidden."""
    await stage.sync("c1", lines(24))
    await stage.sync("c1", lines(8))
    await stage.restart()
    assert await stage.known("c1") == as_told(lines(8))


async def test_nothing_else_of_a_held_sync_is_applied(stage: Stage) -> None:
    """New messages that came with the loss wait with it."""
    await stage.sync("c1", lines(24))
    await stage.sync("c1", [*lines(4), line("new"), line("end")])
    assert await stage.known("c1") == as_told(lines(4))
    await stage.sync("c1", [*lines(4), line("new"), line("end")], confirm=True)
    assert await stage.known("c1") == as_told([*lines(4), line("new")])


async def test_what_another_chat_still_tells_is_not_hidden_there(stage: Stage) -> None:
    """The branch keeps its own view while the parent's loss is quarantined."""
    await stage.sync("c1", lines(24))
    await stage.sync("c2", lines(22), parent=("c1", "m22"))
    await stage.sync("c1", lines(8))
    assert await stage.known("c1") == as_told(lines(8))
    assert await stage.known("c2") == as_told(lines(21))


async def test_a_branch_told_while_its_parent_is_held_is_known(stage: Stage) -> None:
    """Quarantined memories become visible in another chat that contains them."""
    await stage.sync("c1", lines(24))
    await stage.sync("c1", lines(8))
    await stage.sync("c2", lines(22), parent=("c1", "m22"))
    assert await stage.known("c2") == as_told(lines(21))
    assert await stage.known("c1") == as_told(lines(8))


@pytest.mark.parametrize("way", ["shortened", "deleted", "left"])
async def test_what_no_other_chat_tells_any_more_is_hidden_everywhere(
    stage: Stage, way: str
) -> None:
    """The branch contained what its parent lost, and then it does not."""
    await stage.soul("s2", "Tom")
    await stage.sync("c1", lines(24), souls=("s1", "s2"))
    await stage.sync("c2", lines(22), souls=("s1", "s2"), parent=("c1", "m22"))
    await stage.sync("c1", lines(8), souls=("s1", "s2"))
    assert await stage.known(None, "s2") == as_told(lines(21))
    if way == "shortened":
        await stage.sync("c2", lines(4), souls=("s1", "s2"), parent=("c1", "m22"), confirm=True)
    elif way == "deleted":
        await stage.engine.chats.delete(ME, ChatId("c2"))
    else:
        await stage.sync("c2", lines(22), parent=("c1", "m22"))
    assert await stage.known(None, "s2") == as_told(lines(8))
    await stage.restart()
    assert await stage.known(None, "s2") == as_told(lines(8))


async def test_the_question_is_not_made_of_held_messages(stage: Stage) -> None:
    """Without a query, the last messages that are still visible count, however many are
    quarantined.
    """
    await stage.sync("c1", [line("m1", "The key lies under the bridge."), *lines(30, 2)])
    await stage.sync("c1", [line("m1", "The key lies under the bridge."), *lines(1, 2)])
    answer = await stage.engine.recaller.recall(ME, RecallRequest(SoulId("s1"), ChatId("c1")))
    trace = await stage.engine.recaller.trace(ME, answer.trace)
    assert any("bridge" in text for text, _ in trace.query)


async def test_a_deleted_chat_goes_to_the_bin_and_comes_back_with_its_memories(
    either_stage: Stage,
) -> None:
    """Everything only it supports is binned; the same chat synced again brings the same memories back."""
    await either_stage.sync("c1", lines(4))
    await either_stage.sync("c9", [line("o1", "elsewhere"), line("o2")])
    before, ids = (
        await either_stage.fingerprint(),
        {m.id for m in await either_stage.visible("c1")},
    )
    await either_stage.engine.chats.delete(ME, ChatId("c1"))
    with pytest.raises(NotFound):
        await either_stage.engine.chats.get(ME, ChatId("c1"))
    assert await either_stage.known(None) == as_told([line("o1", "elsewhere")])
    assert [m.text for m in await either_stage.listed(MemoryState.BIN)] == as_told(lines(3))
    await either_stage.sync("c1", lines(4))
    assert {m.id for m in await either_stage.visible("c1")} == ids
    assert await either_stage.listed(MemoryState.BIN) == []
    assert await either_stage.fingerprint() == before


async def test_what_a_branch_still_tells_stays(stage: Stage) -> None:
    """Deleting the parent takes only what the branch does not share."""
    await stage.sync("c1", lines(5))
    await stage.sync("c2", lines(3), parent=("c1", "m3"))
    await stage.engine.chats.delete(ME, ChatId("c1"))
    assert await stage.known("c2") == as_told(lines(2))
    assert [m.text for m in await stage.listed(MemoryState.BIN)] == as_told(lines(2, 3))


async def test_what_the_user_binned_stays_binned(stage: Stage) -> None:
    """Neither a sync, nor deleting the chat and bringing it back, nor a restart takes it out again."""
    await stage.sync("c1", lines(4))
    binned = await stage.find(
        "Al: text of m2" if lines(2)[1].speaker == "Al" else "Mira: text of m2"
    )
    await stage.engine.memories.delete(ME, binned, None)
    for _ in range(2):
        await stage.sync("c1", lines(5))
        await stage.engine.chats.delete(ME, ChatId("c1"))
        await stage.sync("c1", lines(5))
        await stage.restart()
        assert await stage.known("c1") == as_told([lines(1)[0], *lines(2, 3)])
    assert [m.id for m in await stage.listed(MemoryState.BIN)] == [binned]


async def test_tags_of_the_user_come_back_with_the_chat(stage: Stage) -> None:
    """A derived memory that was tagged is the same one afterwards."""
    await stage.sync("c1", lines(3))
    key = (await stage.visible("c1"))[0].id
    await stage.engine.memories.patch(ME, key, MemoryPatch(tags=("dear",)))
    await stage.engine.chats.delete(ME, ChatId("c1"))
    await stage.sync("c1", lines(3))
    assert (await stage.engine.memories.get(ME, key)).memory.tags == ("dear",)


@pytest.mark.parametrize(
    "patch",
    [MemoryPatch(text="mine"), MemoryPatch(locked=True), MemoryPatch(permanent=True)],
)
async def test_what_the_user_set_survives_its_message(stage: Stage, patch: MemoryPatch) -> None:
    """Reworded, locked or made permanent it is user-made: known where it was made, after deletion too."""
    await stage.sync("c1", lines(4))
    key = await stage.find(as_told(lines(2)[1:])[0])
    view = await stage.engine.memories.patch(ME, key, patch)
    assert view.memory.origin is Origin.USER
    await stage.sync("c1", [*lines(1), *lines(2, 3)])
    assert key in {m.id for m in await stage.visible("c1")}
    await stage.engine.chats.delete(ME, ChatId("c1"))
    await stage.restart()
    assert (await stage.engine.memories.get(ME, key)).memory == view.memory


async def test_a_touched_memory_is_left_out_of_the_fingerprint(stage: Stage) -> None:
    """Rewording it again does not change the fingerprint; the rest is still compared."""
    await stage.sync("c1", lines(4))
    key = await stage.find(as_told(lines(2)[1:])[0])
    untouched = await stage.fingerprint()
    await stage.engine.memories.patch(ME, key, MemoryPatch(locked=True))
    touched = await stage.fingerprint()
    await stage.engine.memories.patch(ME, key, MemoryPatch(importance=0.9, tags=("x",)))
    assert touched == await stage.fingerprint() != untouched
    await stage.note("made by hand")
    assert await stage.fingerprint() == touched


async def test_a_deleted_soul_is_out_of_reach_and_comes_back_whole(
    stage: Stage,
) -> None:
    """Restored by its name alone; its memories cannot be read meanwhile, and chats are
    synced without it.
    """
    await stage.sync("c1", lines(3))
    note = await stage.note("a note")
    with pytest.raises(ConfirmationRequired):
        await stage.engine.souls.delete(ME, SoulId("s1"), "Tom")
    await stage.engine.souls.delete(ME, SoulId("s1"), "Mira")
    assert await stage.engine.souls.list(ME) == []
    with pytest.raises(NotFound):
        await stage.engine.memories.get(ME, note.memory.id)
    with pytest.raises(NotFound):
        await stage.fingerprint()
    _, is_new = await stage.engine.souls.put(ME, SoulId("s1"), "Mira", None, None)
    assert is_new
    assert await stage.known("c1") == sorted(["a note", *as_told(lines(2))])
