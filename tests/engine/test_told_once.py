"""One scene that several memories tell is recalled once, with the messages of all of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.llm import Prompt
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import line


def scenic(prompt: Prompt) -> str:
    """A model that tells of a key and of a ring in words of its own, differently for each stretch."""
    if prompt.name == "summary":
        return obliging(prompt)
    read = read_of(prompt)
    how = "quickly" if any("other" in text for _, _, text in read) else "at once"
    texts = {
        "key": f"Mira found the brass key under the snow {how}",
        "ring": "Mira lost a silver ring in the well",
        "door": "Mira said that she will open the northern door tomorrow",
    }
    episodes = [
        {"lines": [number], "text": texts[thing], "importance": 0.8}
        for number, _, text in read
        for thing in texts
        if thing in text.split("(")[0]
    ]
    drafts: dict[str, list[object]] = {"facts": [], "concepts": [], "habits": [], "kinds": []}
    return json.dumps(drafts | {"episodes": episodes})


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """An engine with such a model and one soul: s1, Mira."""
    one = ModelStage(scenic)
    await one.start()
    await one.soul()
    yield one
    await one.stop()


async def told(stage: ModelStage, query: str, chat: str | None, word: str) -> list[tuple[str, set[str]]]:
    """What a recall tells with that word: the text, and the slots it is from."""
    answer = await stage.recall(query, chat, max_items=12)
    memories = [m for m in answer.memories if word in m.text and m.kind == "episode"]
    return [(m.text, {place.slot for place in m.sources}) for m in memories]


async def test_a_draft_in_nearly_the_words_of_its_only_message_is_told_once(stage: ModelStage) -> None:
    said = talk(60)
    said[2] = line("m3", "I will open the northern door tomorrow, said Mira.")
    await stage.sync("c", said)
    await stage.rest()
    drafted = [m.text for m in await stage.drafted() if "door" in m.text and m.kind.value == "episode"]
    assert drafted == ["Mira said that she will open the northern door tomorrow"]
    ((_, slots),) = await told(stage, "Who opens the northern door?", "c", "northern door")
    assert slots == {"m3"}


async def test_what_two_answers_drafted_of_one_message_is_told_once(stage: ModelStage) -> None:
    said = talk(60)
    said[14] = line("m15", "It lay frozen: a key, cold as everything here (and yet she saw).")
    await stage.sync("c", said)
    await stage.rest()
    await stage.sync("b", [*said[:17], *talk(44, 18, "other")], parent=("c", "m17"))
    await stage.rest()
    drafted = {m.text for m in await stage.drafted() if "brass" in m.text}
    assert len(drafted) == 2

    ((text, slots),) = await told(stage, "Where is the brass key?", None, "brass")
    assert text in drafted
    assert slots == {"m15"}


@pytest.mark.parametrize("chats", [("c", "c"), ("c", "d")])
async def test_the_very_same_words_are_told_once(stage: ModelStage, chats: tuple[str, str]) -> None:
    """As when a chat is imported a second time under another name."""
    said = {chat: talk(20, word=chat) for chat in set(chats)}
    for chat, at in zip(chats, (3, 9), strict=True):
        said[chat][at - 1] = line(f"m{at}", "The amber  lamp is out.", Role.CHARACTER)
    for chat, messages in said.items():
        await stage.sync(chat, messages)
    found = await told(stage, "Is the amber lamp out?", None, "amber")
    assert [slots for _, slots in found] == [{"m3", "m9"}]
    answer = await stage.recall("Is the amber lamp out?", "c", context_from="m5" if chats[1] == "c" else None)
    assert {p.slot for m in answer.memories if "amber" in m.text for p in m.sources} >= {"m3"}


async def test_two_scenes_in_the_same_words_are_two(stage: ModelStage) -> None:
    said = talk(60)
    for at in (3, 40):
        said[at - 1] = line(f"m{at}", "Gone for good, that ring (and nobody dived).")
    await stage.sync("c", said)
    await stage.rest()
    found = await told(stage, "Where is the silver ring?", "c", "silver ring")
    assert sorted(slots.pop() for _, slots in found) == ["m3", "m40"]
