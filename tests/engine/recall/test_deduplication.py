"""What stands in the prompt by its text is not recalled, whichever message or memory says it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import chain
from typing import Any

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallType
from soulmem.engine.api.results import Recalled
from tests.engine.stage import ME, Stage, line

KEY = "I hid the brass key in the hollow oak behind the chapel."
KEY_ZH = "我把铜钥匙悄悄地藏在教堂后面的空心橡树里。"
ASKED = "Where did you hide the brass key?"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """An engine and one soul: s1, Mira."""
    made = Stage()
    await made.start()
    await made.soul()
    yield made
    await made.stop()


def texts(answer: Recalled) -> str:
    """What was recalled, in one text; it is what the blocks say."""
    blocks = "\n".join(block.text for block in answer.blocks)
    assert all(memory.text in blocks for memory in answer.memories)
    return "\n".join(memory.text for memory in answer.memories)


async def chat(stage: Stage, *last: str, hidden: bool = False) -> None:
    """Ten messages of c, of which m2 tells of the key, and behind them `last`: n0, n1, .."""
    messages = [line(f"m{i}", f"We talk about the weather of day {i}.") for i in range(1, 11)]
    messages[1] = line("m2", KEY, Role.CHARACTER)
    messages[2] = line("m3", KEY_ZH, Role.CHARACTER)
    messages += [line(f"n{i}", text, hidden=hidden) for i, text in enumerate(last)]
    await stage.sync("c", messages)
    await stage.close("c")


async def test_a_later_message_in_the_same_or_nearly_the_same_words_stands_for_it(
    stage: Stage,
) -> None:
    await chat(
        stage,
        f'*She nods.* "{KEY.replace("brass", "copper")}"',
        "我把铜钥匙偷偷地藏在教堂后面的空心橡树里！",
    )
    assert "hollow oak" in texts(await stage.recall(ASKED, "c"))
    assert "空心橡树" in texts(await stage.recall("铜钥匙藏在哪里", "c"))
    assert "hollow oak" not in texts(await stage.recall(ASKED, "c", context_from="n0"))
    assert "空心橡树" not in texts(await stage.recall("铜钥匙藏在哪里", "c", context_from="n0"))
    assert "hollow oak" not in texts(await stage.recall(ASKED, "c", context_from="m8"))


async def test_a_hidden_message_and_a_reply_that_is_replaced_stand_nowhere(
    stage: Stage,
) -> None:
    await chat(stage, KEY, "What was that?", hidden=True)
    assert "hollow oak" in texts(await stage.recall(ASKED, "c", context_from="m8"))
    messages = [line("d1", ASKED), line("d2", KEY, Role.CHARACTER)]
    await stage.sync("d", messages)
    for kind, is_told in ((RecallType.SWIPE, True), (RecallType.NORMAL, False)):
        answer = await stage.recall(ASKED, "d", context_from="d1", type=kind, slot="d2", swipe=1)
        assert ("hollow oak" in texts(answer)) is is_told


async def test_what_is_left_out_makes_room_for_the_next(stage: Stage) -> None:
    await chat(stage)
    await stage.note("The brass key opens the cellar of the old abbey, nobody knows.")
    first = await stage.recall(ASKED, "c", max_items=1)
    second = await stage.recall(ASKED, "c", max_items=1, context_texts=(first.memories[0].text,))
    assert len(second.memories) == 1
    assert second.memories[0].id != first.memories[0].id


async def test_what_the_user_made_permanent_is_told_unless_all_of_it_stands_there(
    stage: Stage,
) -> None:
    oath = "Mira swore an oath to the river and never broke it."
    await stage.note(
        f"{oath} She is allergic to every kind of nut there is on the island.",
        permanent=True,
    )
    assert oath in texts(await stage.recall("Hello?", context_texts=(oath,)))
    whole = f"{oath}\nAlso, she is allergic to every kind of nut there is on the island!"
    assert not (await stage.recall("Hello?", context_texts=(whole,))).memories


async def test_nothing_is_told_twice_in_one_answer(stage: Stage) -> None:
    footer = "[Harbour of Varn, the ninth of October, light rain]"
    for i, what in enumerate(
        (
            "The brass key lies in the drawer of the captain now.",
            "The key to the abbey was sold in spring to a pedlar.",
        )
    ):
        await stage.note(f"{what} {footer}", importance=0.5 + i / 10)
    recalled = texts(await stage.recall("Where is the key?", context_texts=("Nothing of it.",)))
    assert recalled.count("Harbour of Varn") == 1
    assert "drawer" in recalled
    assert "pedlar" in recalled
    assert texts(await stage.recall("Where is the key?")).count("Harbour of Varn") == 2, (
        "without a context"
    )


async def test_a_habit_that_shows_now_is_told_though_the_card_names_it(
    stage: Stage,
) -> None:
    await stage.note("hums an old song of the sea when she is nervous", kind=MemoryKind.ACTION)
    card = ("Mira hums an old song of the sea when she is nervous.",)
    assert "hums" in texts(await stage.recall("You hum an old song when nervous."))
    assert "hums" not in texts(
        await stage.recall("You hum an old song when nervous.", context_texts=card)
    )


async def test_reserved_exchanges_may_be_told_though_they_are_the_newest(
    stage: Stage,
) -> None:
    messages = [line("k", KEY, Role.CHARACTER)]
    for i in range(1, 9):
        messages += [
            line(f"u{i}", f"Question {i} is about the weather."),
            line(f"a{i}", f"Rain, says the bird number {i}.", Role.CHARACTER),
        ]
    await stage.sync("c", messages)
    await stage.close("c")

    async def slots(**more: Any) -> set[str]:
        answer = await stage.recall(
            "What says the bird about rain?",
            "c",
            context_from="u1",
            max_items=50,
            **more,
        )
        places = chain.from_iterable(memory.sources for memory in answer.memories)
        return {place.slot for place in places}

    assert not await slots() & {m.slot for m in messages[1:]}
    assert await slots(reserve_window=True) & {m.slot for m in messages[1:]} == {
        "a6",
        "a7",
        "a8",
        "u6",
        "u7",
        "u8",
    }
    trace = await stage.engine.recaller.trace(
        ME, (await stage.recall(ASKED, "c", context_from="u1")).trace
    )
    assert not trace.notes
