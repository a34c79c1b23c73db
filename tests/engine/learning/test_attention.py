"""What is in the working memory of a mind, also after a restart."""

from __future__ import annotations

import asyncio

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.ids import SlotId
from soulmem.graph.working_memory import WorkingMemory
from tests.engine.stage import ME, Stage, line

KEY, BREAD = (
    "Al: I hid the silver key under the old bridge.",
    "Al: We bake bread on Sundays.",
)
TALK = [
    line("m1", KEY[4:]),
    line("m2", "I will not tell.", Role.CHARACTER),
    line("m3", BREAD[4:]),
    line("m4", "With raisins, please.", Role.CHARACTER),
    line("m5", "The whales sang all night."),
]


@pytest.fixture
async def chat_stage(stage: Stage) -> Stage:
    """A soul after a chat that was synced message by message; the next reply is due."""
    for count in range(1, len(TALK) + 1):
        stage.clock.advance(30)
        await stage.sync("c1", TALK[:count])
    return stage


async def working_memory_of(stage: Stage) -> WorkingMemory:
    """The mind's working memory, once the library is loaded and all lessons are done."""
    await stage.engine.idle.run()
    await asyncio.gather(*stage.engine.tasks)
    loading = stage.engine.learner._loading
    assert loading is not None
    await loading
    await stage.engine.learner.refresh_working_memory([await stage.mind()])
    working = (await stage.mind()).recalls.working
    assert working is not None
    return working


async def active_texts(stage: Stage, *, new: bool) -> list[str]:
    """Texts of active memories that are new, or that are not."""
    mind = await stage.mind()
    active = (await working_memory_of(stage)).active()
    return sorted(mind.memories[entry.memory].text for entry in active if entry.is_new is new)


async def settled_recall(stage: Stage, query: str, number: int) -> None:
    """A recall of one memory whose reply is kept."""
    await stage.recall(query, "c1", slot=SlotId(f"r{number}"), swipe=0, max_items=1)
    stage.clock.advance(30)
    _, chat_stage = await stage.engine.chats.get(ME, next(iter((await stage.world()).heads)))
    shown = [line(m.slot, m.text, m.role, speaker=m.speaker) for m in chat_stage]
    more = [
        line(f"r{number}", f"Yes {number}.", Role.CHARACTER),
        line(f"n{number}", f"And {number}?"),
    ]
    await stage.sync("c1", [*shown, *more])
    await stage.engine.learner.drain()


async def test_what_was_written_is_active_until_it_is_promoted(
    chat_stage: Stage,
) -> None:
    """Two recalls in different exchanges promote it; important memories and those by
    hand are never new.
    """
    await chat_stage.note("The moon is a lamp.")
    assert await active_texts(chat_stage, new=True) == sorted(
        f"{m.speaker}: {m.text}" for m in TALK[:-1]
    )
    await settled_recall(chat_stage, "silver key", 1)
    assert KEY in await active_texts(chat_stage, new=True)
    await settled_recall(chat_stage, "silver key", 2)
    assert KEY in await active_texts(chat_stage, new=False)
    assert BREAD in await active_texts(chat_stage, new=True)


async def test_what_recalls_go_over_again_and_again_is_promoted(
    chat_stage: Stage,
) -> None:
    """Also if no recall ends there."""
    active, mind = await working_memory_of(chat_stage), await chat_stage.mind()
    way = [await chat_stage.find(BREAD), await chat_stage.find(KEY)]
    for turn in range(4):
        assert BREAD in await active_texts(chat_stage, new=True)
        active.add_recall([way], turn)
        await chat_stage.engine.learner.refresh_working_memory([mind])
    assert BREAD not in await active_texts(chat_stage, new=True)
    assert mind.recalls.usage(way[0]) is None


async def test_an_old_chat_that_is_read_is_not_new(stage: Stage) -> None:
    """More than twenty messages at once are kept without promotion."""
    await stage.sync("c1", [line(f"m{i}", f"We said {i}.") for i in range(25)])
    assert await active_texts(stage, new=True) == []
    stage.clock.advance(30)
    more = [line(f"m{i}", f"We said {i}.") for i in range(28)]
    await stage.sync("c1", more)
    assert await active_texts(stage, new=True) == [
        "Al: We said 24.",
        "Al: We said 25.",
        "Al: We said 26.",
    ]


async def test_a_new_life_begins_with_what_was_active(chat_stage: Stage) -> None:
    """Counts, turns and steps, from the records."""
    for number, query in enumerate(("silver key", "Sunday bread", "silver key")):
        await settled_recall(chat_stage, query, number)
    before = (await working_memory_of(chat_stage)).active()
    assert max(entry.count for entry in before) == 2
    await chat_stage.restart()
    assert (await working_memory_of(chat_stage)).active() == before


async def test_what_is_cold_leaves_and_comes_back_with_a_recall(
    chat_stage: Stage,
) -> None:
    """What was written has 100 turns to be promoted, but for what was recalled most: that stays."""
    await settled_recall(chat_stage, "silver key", 1)
    mind = await chat_stage.mind()
    await chat_stage.engine.advance_clock(0, 90)
    assert BREAD in await active_texts(chat_stage, new=True)
    await chat_stage.engine.advance_clock(0, 20)
    assert await active_texts(chat_stage, new=True) == [KEY]
    await chat_stage.engine.advance_clock(0, 300)
    assert await active_texts(chat_stage, new=True) == [KEY]
    assert await active_texts(chat_stage, new=False) == []
    await settled_recall(chat_stage, "Sunday bread", 2)
    assert BREAD in [
        mind.memories[entry.memory].text for entry in (await working_memory_of(chat_stage)).active()
    ]


async def test_a_memory_that_goes_is_not_active(chat_stage: Stage) -> None:
    await working_memory_of(chat_stage)
    await chat_stage.sync("c1", [TALK[0], *TALK[2:]])
    assert "Mira: I will not tell." not in await active_texts(chat_stage, new=True)


async def test_a_trace_names_what_was_active(chat_stage: Stage) -> None:
    await settled_recall(chat_stage, "silver key", 1)
    active = [entry.memory for entry in (await working_memory_of(chat_stage)).active()]
    answer = await chat_stage.recall("Sunday bread", "c1")
    assert active
    assert (await chat_stage.engine.recaller.trace(ME, answer.trace)).guidance["active"] == active
