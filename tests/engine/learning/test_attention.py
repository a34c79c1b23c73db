"""What is active of a mind, from the first recall to the next life?"""

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
async def told(stage: Stage) -> Stage:
    """A soul that lived a chat, message by message, and waits to reply."""
    for count in range(1, len(TALK) + 1):
        stage.clock.advance(30)
        await stage.sync("c1", TALK[:count])
    return stage


async def working(stage: Stage) -> WorkingMemory:
    """The mind's working memory, once the library is loaded and what is under way is done."""
    await stage.engine.idle.run()
    await asyncio.gather(*stage.engine.tasks)
    loading = stage.engine.learner._loading
    assert loading is not None
    await loading
    await stage.engine.learner.refresh_working_memory([await stage.mind()])
    found = (await stage.mind()).recalls.working
    assert found is not None
    return found


async def names(stage: Stage, *, new: bool) -> list[str]:
    """Texts of what is active and new, or active and not new."""
    mind = await stage.mind()
    active = (await working(stage)).active()
    return sorted(mind.memories[one.memory].text for one in active if one.is_new is new)


async def lived(stage: Stage, query: str, number: int) -> None:
    """A recall of one memory whose reply is kept."""
    await stage.recall(query, "c1", slot=SlotId(f"r{number}"), swipe=0, max_items=1)
    stage.clock.advance(30)
    _, told = await stage.engine.chats.get(ME, next(iter((await stage.world()).heads)))
    shown = [line(m.slot, m.text, m.role, speaker=m.speaker) for m in told]
    more = [
        line(f"r{number}", f"Yes {number}.", Role.CHARACTER),
        line(f"n{number}", f"And {number}?"),
    ]
    await stage.sync("c1", [*shown, *more])
    await stage.engine.learner.drain()


async def test_what_was_written_is_active_until_it_is_promoted(told: Stage) -> None:
    """Twice in mind, in different exchanges, is enough; what matters or was made by hand is never new."""
    await told.note("The moon is a lamp.")
    assert await names(told, new=True) == sorted(
        f"{m.speaker}: {m.text}" for m in TALK[:-1]
    )
    await lived(told, "silver key", 1)
    assert KEY in await names(told, new=True)
    await lived(told, "silver key", 2)
    assert KEY in await names(told, new=False)
    assert BREAD in await names(told, new=True)


async def test_what_recalls_go_over_again_and_again_is_promoted(told: Stage) -> None:
    """Also if none of them ends there."""
    active, mind = await working(told), await told.mind()
    way = [await told.find(BREAD), await told.find(KEY)]
    for turn in range(4):
        assert BREAD in await names(told, new=True)
        active.add_recall([way], turn)
        await told.engine.learner.refresh_working_memory([mind])
    assert BREAD not in await names(told, new=True)
    assert mind.recalls.usage(way[0]) is None


async def test_an_old_chat_that_is_read_is_not_new(stage: Stage) -> None:
    """More than twenty messages at once: they are kept without proof."""
    await stage.sync("c1", [line(f"m{i}", f"We said {i}.") for i in range(25)])
    assert await names(stage, new=True) == []
    stage.clock.advance(30)
    more = [line(f"m{i}", f"We said {i}.") for i in range(28)]
    await stage.sync("c1", more)
    assert await names(stage, new=True) == [
        "Al: We said 24.",
        "Al: We said 25.",
        "Al: We said 26.",
    ]


async def test_a_new_life_begins_with_what_was_active(told: Stage) -> None:
    """Counts, turns and steps, from the records."""
    for number, query in enumerate(("silver key", "Sunday bread", "silver key")):
        await lived(told, query, number)
    before = (await working(told)).active()
    assert max(one.count for one in before) == 2
    await told.restart()
    assert (await working(told)).active() == before


async def test_what_is_cold_leaves_and_comes_back_with_a_recall(told: Stage) -> None:
    """What was written has 100 turns to be promoted, but for what was recalled most: that stays."""
    await lived(told, "silver key", 1)
    mind = await told.mind()
    await told.engine.advance_clock(0, 90)
    assert BREAD in await names(told, new=True)
    await told.engine.advance_clock(0, 20)
    assert await names(told, new=True) == [KEY]
    await told.engine.advance_clock(0, 300)
    assert await names(told, new=True) == [KEY]
    assert await names(told, new=False) == []
    await lived(told, "Sunday bread", 2)
    assert BREAD in [
        mind.memories[one.memory].text for one in (await working(told)).active()
    ]


async def test_a_memory_that_goes_is_not_active(told: Stage) -> None:
    await working(told)
    await told.sync("c1", [TALK[0], *TALK[2:]])
    assert "Mira: I will not tell." not in await names(told, new=True)


async def test_a_trace_names_what_was_active(told: Stage) -> None:
    await lived(told, "silver key", 1)
    active = [one.memory for one in (await working(told)).active()]
    answer = await told.recall("Sunday bread", "c1")
    assert active
    assert (await told.engine.recaller.trace(ME, answer.trace)).guidance[
        "active"
    ] == active
