"""Memories tell the story of their messages, not the blocks around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.memories import MemoryKind
from tests.engine.stage import ME, Stage, line

TALES = [
    "*sets a lamp down* The cellar key hangs behind the clock.",
    "My brother owes the miller eleven silver crowns.",
    "I buried the ring under the third apple tree.",
    "There is a second ledger inside the hollow loaf.",
    "The man with the burnt hand came again last night.",
]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """An engine with one soul: s1, Mira."""
    one = Stage()
    await one.start()
    await one.soul()
    yield one
    await one.stop()


def chat(blocks: bool) -> list[SentMessage]:
    """Questions and answers; with blocks before and below each answer, or without."""
    out = []
    for number, tale in enumerate(TALES):
        out.append(line(f"u{number}", f"And then, {number}?"))
        told = (
            f"<think>Zadok could betray her later.</think>\n\n{tale}\n\n"
            f"[Mood: calm | Place: Frostfall | HP: {number}/100]\n"
            f"<StatusBlock>\nOutfit: dress\nHP: {number}\n</StatusBlock>"
        )
        out.append(line(f"m{number}", told if blocks else tale, Role.CHARACTER))
    return out


async def all_texts(stage: Stage) -> list[str]:
    """Texts of all memories, concepts among them."""
    return [memory.text for memory in await stage.listed()]


async def test_blocks_around_the_story_change_no_memory(stage: Stage) -> None:
    await stage.sync("c", chat(blocks=False))
    await stage.close("c")
    plain = await all_texts(stage)
    await stage.sync("c", chat(blocks=True))
    await stage.close("c")
    assert await all_texts(stage) == plain
    assert len([text for text in plain if text.startswith("Mira: ")]) == len(TALES)


@pytest.mark.parametrize("steps", [[2, 5, 10], [10, 3, 10], [4, 6, 8, 10]])
async def test_the_way_to_a_chat_does_not_change_its_stories(
    stage: Stage, steps: list[int]
) -> None:
    for count in steps:
        await stage.sync("c", chat(blocks=True)[:count])
    await stage.close("c")
    there = await stage.fingerprint()
    other = Stage()
    await other.start()
    await other.soul()
    await other.sync("c", chat(blocks=True))
    await other.close("c")
    assert await other.fingerprint() == there
    await other.stop()


async def test_a_message_that_is_nothing_but_a_block_is_kept_and_never_told(
    stage: Stage,
) -> None:
    block = "<StatusBlock>\nMood: calm\nHP: 3/100\n</StatusBlock>"
    await stage.sync("c", [line("b1", block, Role.CHARACTER), *chat(blocks=False)])
    assert not [text for text in await all_texts(stage) if "Mood" in text]
    world = await stage.world()
    log = world.loaded_log(world.head("c").id)  # type: ignore[arg-type]
    assert log is not None
    assert log.messages[0].text == block


async def test_the_stories_are_the_same_after_a_restart(stage: Stage) -> None:
    await stage.sync("c", chat(blocks=True))
    await stage.close("c")
    before, there = await all_texts(stage), await stage.fingerprint()
    await stage.restart()
    assert await all_texts(stage) == before
    assert await stage.fingerprint() == there


async def test_what_the_prompt_shows_is_remembered(stage: Stage) -> None:
    hidden = [
        replace(m, story="The ring is under the apple tree.") if m.slot == "m1" else m
        for m in chat(blocks=False)
    ]
    await stage.sync("c", hidden)
    await stage.close("c")
    texts = await all_texts(stage)
    assert "Mira: The ring is under the apple tree." in texts
    assert f"Mira: {TALES[1]}" not in texts
    await stage.sync("c", chat(blocks=False))  # the rule is gone
    await stage.close("c")
    assert f"Mira: {TALES[1]}" in await all_texts(stage)


async def test_a_soul_that_keeps_whole_messages_remembers_the_blocks(
    stage: Stage,
) -> None:
    await stage.sync("c", chat(blocks=True))
    await stage.close("c")
    stories = await all_texts(stage)
    await stage.soul(whole_messages=True)
    whole = [
        memory.text
        for memory in await stage.listed()
        if memory.kind is MemoryKind.EPISODE and memory.text.startswith("Mira")
    ]
    assert len(whole) == len(TALES)
    assert all("<StatusBlock>" in text for text in whole)
    await stage.soul(whole_messages=False)
    assert await all_texts(stage) == stories


async def test_what_stands_in_the_prompt_is_known_by_its_story(stage: Stage) -> None:
    messages = chat(blocks=True)
    twin = line("m9", TALES[0], Role.CHARACTER)
    await stage.sync("c", [*messages, line("u9", "Go on."), twin])
    await stage.close("c")
    answer = await stage.recall("Where is the cellar key?", "c", context_from="u9")
    assert not [m for m in answer.memories if "cellar" in m.text]
    answer = await stage.recall("Where is the ring buried?", "c", context_from="u9")
    assert [m.text for m in answer.memories if "ring" in m.text] == [f"Mira: {TALES[2]}"]


async def test_a_memory_says_what_of_its_message_is_left_out(stage: Stage) -> None:
    await stage.sync("c", chat(blocks=True))
    await stage.close("c")
    key = await stage.find(f"Mira: {TALES[0]}")
    view = await stage.engine.memories.get(ME, key)
    kinds = [part.kind.value for part in view.left_out]
    assert kinds == ["reasoning", "status", "status"]
    plain = await stage.find("Al: And then, 0?")
    assert (await stage.engine.memories.get(ME, plain)).left_out == ()
