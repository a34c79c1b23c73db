"""Memories in the bin can be restored for a week, and are purged everywhere after it."""

from __future__ import annotations

import asyncio

import pytest

from soulmem.domain.audit import Action, Actor
from soulmem.domain.errors import Conflict, NotFound
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import MemoryState
from soulmem.domain.soul import KnownName
from soulmem.engine.runtime.jobs import JobState
from tests.engine.stage import ME, Stage, line, lines

DAY = 86_400.0


async def binned(stage: Stage) -> list[str]:
    return [m.text for m in await stage.listed(MemoryState.BIN)]


async def idle_after_days(stage: Stage, days: float) -> None:
    stage.clock.advance(days * DAY, 0)
    await stage.engine.idle.run()


async def is_stored_anywhere(stage: Stage, words: str) -> bool:
    """Whether the words are in any stored memory, audit entry or deletion request."""
    memories = await stage.store.memories(ME, SoulId("s1"))
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 1000, None)
    entries = [(e.before, e.after, e.reason) for e in page.entries]
    deletions = await stage.store.deletions(ME)
    return any(words in str(row) for row in (*memories, *entries, *deletions))


async def test_it_comes_back_until_a_week_is_over_and_then_never(stage: Stage) -> None:
    await stage.soul()
    purged, kept = (
        (await stage.note("heron")).memory,
        (await stage.note("otter")).memory,
    )
    await stage.engine.memories.delete(ME, purged.id, None)
    await stage.engine.memories.delete(ME, kept.id, None)
    await idle_after_days(stage, 5.9)
    assert stage.engine.health().notes == ()
    await idle_after_days(stage, 0.2)
    assert "2 memories leave" in str(stage.engine.health().notes[0])
    await stage.engine.memories.restore(ME, kept.id)
    assert await binned(stage) == ["heron"]
    await idle_after_days(stage, 1)

    assert await binned(stage) == []
    with pytest.raises(NotFound):
        await stage.engine.memories.restore(ME, purged.id)
    assert [m.text for m in await stage.listed()] == ["otter"]
    assert not await is_stored_anywhere(stage, "heron")
    assert await is_stored_anywhere(stage, "otter")
    history = (await stage.engine.history.of_memory(ME, purged.id, 9, None)).entries
    assert [(e.actor, e.action) for e in history] == [
        (Actor.ENGINE, Action.PURGE),
        (Actor.USER, Action.BIN),
        (Actor.USER, Action.CREATE),
    ]
    assert stage.engine.health().notes == ()


async def test_a_soul_that_nobody_opens_is_emptied_too(stage: Stage) -> None:
    """It was unloaded, e.g. after a refused change, and is not used for weeks."""
    await stage.soul()
    made = (await stage.note("heron")).memory
    await stage.engine.memories.delete(ME, made.id, None)
    await idle_after_days(stage, 1)
    (await stage.world()).unload(SoulId("s1"))
    await idle_after_days(stage, 7)

    assert not await is_stored_anywhere(stage, "heron")


async def test_the_week_goes_on_over_a_restart_and_begins_anew_with_the_bin(
    stage: Stage,
) -> None:
    await stage.soul()
    made = (await stage.note("heron")).memory
    await stage.engine.memories.delete(ME, made.id, None)
    await idle_after_days(stage, 5)
    await stage.restart()
    await stage.engine.memories.restore(ME, made.id)
    await stage.engine.memories.delete(ME, made.id, None)
    await idle_after_days(stage, 5)
    assert await binned(stage) == ["heron"]
    await stage.restart()
    await stage.mind()
    await idle_after_days(stage, 2)
    assert await binned(stage) == []


async def test_a_permanent_memory_the_user_binned_goes_too(stage: Stage) -> None:
    await stage.soul()
    made = (await stage.note("heron", permanent=True, locked=True)).memory
    await stage.engine.memories.delete(ME, made.id, "permanent")
    await idle_after_days(stage, 8)

    assert await binned(stage) == []


async def test_what_a_chat_took_along_goes_after_its_week(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(6))
    await stage.engine.chats.delete(ME, ChatId("c1"))
    count = len(await binned(stage))
    assert count > 0
    await idle_after_days(stage, 1)
    await idle_after_days(stage, 6.5)
    assert len(await binned(stage)) == count
    await idle_after_days(stage, 0.6)
    assert await binned(stage) == []


async def test_what_a_chat_still_tells_stays_binned(stage: Stage) -> None:
    """Dropped, it would come back from the chat: the user does not want it."""
    await stage.soul()
    await stage.sync("c1", lines(6))
    first = (await stage.listed())[0]
    await stage.engine.memories.delete(ME, first.id, None)
    await idle_after_days(stage, 30)
    await stage.restart()

    assert await binned(stage) == [first.text]
    assert first.text not in [m.text for m in await stage.listed()]


@pytest.mark.parametrize("kind", ["consolidate", "digest"])
async def test_upkeep_can_be_asked_for(stage: Stage, kind: str) -> None:
    await stage.soul()
    await stage.sync("c1", lines(6))
    job = await stage.engine.jobs.ask(ME, kind, SoulId("s1"), {})
    await asyncio.gather(*stage.engine.jobs._tasks)

    view = stage.engine.jobs.get(ME, job)
    assert view.state is JobState.DONE
    assert set(view.result) <= {"active", "period", "digests"}


async def test_what_a_chat_tells_is_not_purged_while_it_does(stage: Stage) -> None:
    """It would come back with the next look at the chat."""
    await stage.sync("c1", lines(4))
    episode = await stage.find("Mira: text of m2")
    with pytest.raises(Conflict, match="not in the bin"):
        await stage.engine.memories.delete(ME, episode, "purge")
    await stage.engine.memories.delete(ME, episode, None)
    with pytest.raises(Conflict, match="told by a chat"):
        await stage.engine.memories.delete(ME, episode, "purge")
    await stage.sync("c1", [*lines(1), *lines(2, start=3)])
    await stage.engine.memories.delete(ME, episode, "purge")
    with pytest.raises(NotFound):
        await stage.engine.memories.get(ME, episode)
    assert await stage.listed(MemoryState.BIN) == []


async def test_a_name_thrown_away_stays_so_while_messages_or_the_card_give_it(
    stage: Stage,
) -> None:
    """Else it would be learned anew a week later."""
    messages = [
        line("a", "Ask Kaelith."),
        line("b", "Where is Kaelith?"),
        line("c", "Well."),
    ]
    await stage.sync("c1", messages)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Tovan"),), None)
    mind = await stage.mind()
    for text in ("Kaelith", "Tovan"):
        (key,) = [m.id for m in mind.names.concepts() if m.text == text]
        await stage.engine.memories.delete(ME, key, None)
    await idle_after_days(stage, 30)
    assert await binned(stage) == ["Kaelith", "Tovan"]

    await stage.sync("c1", [messages[0], line("d", "Ask nobody."), messages[2]])
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (), None)
    await idle_after_days(stage, 8)
    await stage.restart()
    names = (await stage.mind()).names
    assert [m.text for m in names.concepts()] == []


async def test_the_user_empties_the_bin_at_once(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(12))
    kept, purged = (
        (await stage.note("otter")).memory,
        (await stage.note("heron")).memory,
    )
    await stage.engine.memories.delete(ME, purged.id, None)
    await stage.engine.chats.delete(ME, ChatId("c1"))
    assert len(await binned(stage)) == 12, "the last line of a chat is not settled yet"
    job = await stage.engine.jobs.ask(ME, "purge", SoulId("s1"), {"confirm": "purge"})
    await asyncio.gather(*stage.engine.jobs._tasks)
    assert (stage.engine.jobs.get(ME, job).state, await binned(stage)) == (
        JobState.DONE,
        [],
    )
    assert [m.id for m in await stage.listed()] == [kept.id]
    assert not await is_stored_anywhere(stage, "heron")
    history = (await stage.engine.history.of_memory(ME, purged.id, 9, None)).entries
    assert (history[0].actor, history[0].action, history[0].source) == (
        Actor.USER,
        Action.PURGE,
        job,
    )


async def test_the_bin_is_not_emptied_by_a_slip(stage: Stage) -> None:
    await stage.soul()
    await stage.engine.memories.delete(ME, (await stage.note("heron")).memory.id, None)
    job = await stage.engine.jobs.ask(ME, "purge", SoulId("s1"), {})
    await asyncio.gather(*stage.engine.jobs._tasks)
    view = stage.engine.jobs.get(ME, job)
    assert view.state is JobState.FAILED
    assert '"confirm": "purge"' in str(view.error)
    assert await binned(stage) == ["heron"]
