"""A scene in several memories is recalled once, with the messages of all of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.llm import Prompt
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import ME, line


def scene_drafts(prompt: Prompt) -> str:
    """A model that drafts a key scene and a ring scene, in other words for each stretch."""
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
    drafts: dict[str, list[object]] = {
        "facts": [],
        "concepts": [],
        "habits": [],
        "kinds": [],
    }
    return json.dumps(drafts | {"episodes": episodes})


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """An engine with such a model and one soul: s1, Mira."""
    model_stage = ModelStage(scene_drafts)
    await model_stage.start()
    await model_stage.soul()
    yield model_stage
    await model_stage.stop()


async def recalled_with(
    stage: ModelStage, query: str, chat: str | None, word: str
) -> list[tuple[str, set[str]]]:
    """Texts and slots of the recalled memories that contain the word."""
    answer = await stage.recall(query, chat, max_items=12)
    memories = [m for m in answer.memories if word in m.text and m.kind == "episode"]
    return [(m.text, {place.slot for place in m.sources}) for m in memories]


async def test_a_draft_in_nearly_the_words_of_its_only_message_is_told_once(
    stage: ModelStage,
) -> None:
    messages = talk(60)
    messages[2] = line("m3", "I will open the northern door tomorrow, said Mira.")
    await stage.sync("c", messages)
    await stage.rest()
    drafted = [
        m.text for m in await stage.drafted() if "door" in m.text and m.kind.value == "episode"
    ]
    assert drafted == ["Mira said that she will open the northern door tomorrow"]
    ((_, slots),) = await recalled_with(stage, "Who opens the northern door?", "c", "northern door")
    assert slots == {"m3"}


async def test_what_two_answers_drafted_of_one_message_is_told_once(
    stage: ModelStage,
) -> None:
    messages = talk(60)
    messages[14] = line("m15", "It lay frozen: a key, cold as everything here (and yet she saw).")
    await stage.sync("c", messages)
    await stage.rest()
    await stage.sync("b", [*messages[:17], *talk(44, 18, "other")], parent=("c", "m17"))
    await stage.rest()
    drafted = {m.text for m in await stage.drafted() if "brass" in m.text}
    assert len(drafted) == 2

    ((text, slots),) = await recalled_with(stage, "Where is the brass key?", None, "brass")
    assert text in drafted
    assert slots == {"m15"}


@pytest.mark.parametrize("chats", [("c", "c"), ("c", "d")])
async def test_the_very_same_words_are_told_once(stage: ModelStage, chats: tuple[str, str]) -> None:
    """As when a chat is imported a second time under another name."""
    messages_by_chat = {chat: talk(20, word=chat) for chat in set(chats)}
    for chat, at in zip(chats, (3, 9), strict=True):
        messages_by_chat[chat][at - 1] = line(f"m{at}", "The amber  lamp is out.", Role.CHARACTER)
    for chat, messages in messages_by_chat.items():
        await stage.sync(chat, messages)
    recalled = await recalled_with(stage, "Is the amber lamp out?", None, "amber")
    assert [slots for _, slots in recalled] == [{"m3", "m9"}]
    if chats[1] == "c":  # then one of them stands in the prompt, and the other need not be told
        answer = await stage.recall("Is the amber lamp out?", "c", context_from="m5")
        assert not [m for m in answer.memories if "amber" in m.text]
        trace = await stage.engine.recaller.trace(ME, answer.trace)
        cut = {memory.cut for memory in trace.considered if "amber" in memory.text}
        assert cut == {"the prompt says it already"}


async def test_two_scenes_in_the_same_words_are_two(stage: ModelStage) -> None:
    messages = talk(60)
    for at in (3, 40):
        messages[at - 1] = line(f"m{at}", "Gone for good, that ring (and nobody dived).")
    await stage.sync("c", messages)
    await stage.rest()
    recalled = await recalled_with(stage, "Where is the silver ring?", "c", "silver ring")
    assert sorted(slots.pop() for _, slots in recalled) == ["m3", "m40"]


@pytest.mark.parametrize(
    ("draft", "tail", "is_both"),
    [
        (
            "Al asked for the copper kettle and Mira lent the copper kettle gladly",
            "",
            False,
        ),
        ("Mira gladly parted from the vessel that boils her water", "", True),
        (
            "Al asked for the copper kettle and Mira lent the copper kettle gladly",
            " " + " ".join(f"And then she spoke of lake{at} and hill{at}." for at in range(12)),
            True,
        ),
    ],
    ids=["in their words", "in other words", "of long messages"],
)
async def test_a_draft_and_messages_that_say_the_same_cost_one_place(
    draft: str, tail: str, is_both: bool
) -> None:
    """What says it in other words, or says more, has a place of its own."""

    def answer(prompt: Prompt) -> str:
        if prompt.name == "summary":
            return obliging(prompt)
        lines = [number for number, _, text in read_of(prompt) if "copper kettle" in text]
        episodes = [{"lines": lines, "text": draft, "importance": 0.8}] if lines else []
        return json.dumps(
            {
                "episodes": episodes,
                "facts": [],
                "concepts": [],
                "habits": [],
                "kinds": [],
            }
        )

    stage = ModelStage(answer)
    await stage.start()
    await stage.soul()
    messages = talk(60)
    messages[6] = line("m7", "Could I borrow the copper kettle, he asked." + tail)
    messages[7] = line("m8", "The copper kettle is lent gladly." + tail, Role.CHARACTER)
    await stage.sync("c", messages)
    await stage.rest()
    assert draft in [m.text for m in await stage.drafted()]
    recalled = (await stage.recall("Who has the copper kettle? It boils water.", "c")).memories
    by_draft = [m for m in recalled if m.text == draft]
    by_message = [m for m in recalled if "The copper kettle is lent" in m.text]
    assert len(by_draft) == 1
    assert bool(by_message) is is_both
    assert is_both or {place.slot for place in by_draft[0].sources} == {"m7", "m8"}
    await stage.stop()


async def test_a_message_is_told_itself_where_the_others_of_its_draft_are_far(
    stage: ModelStage,
) -> None:
    """A draft of the chat's words would bring what has nothing to do with the cue."""

    def answer(prompt: Prompt) -> str:
        if prompt.name == "summary":
            return obliging(prompt)
        lines = [
            number for number, _, text in read_of(prompt) if "kettle" in text or "raven" in text
        ]
        text = "He asked to borrow the copper kettle and the raven flew over the northern gate"
        episodes = [{"lines": lines, "text": text, "importance": 0.8}] if len(lines) == 2 else []
        return json.dumps(
            {
                "episodes": episodes,
                "facts": [],
                "concepts": [],
                "habits": [],
                "kinds": [],
            }
        )

    stage.llm.then([answer])
    messages = talk(60)
    messages[6] = line("m7", "Could I borrow the copper kettle, he asked.")
    messages[9] = line("m10", "The raven flew over the northern gate.", Role.CHARACTER)
    await stage.sync("c", messages)
    await stage.rest()
    assert [m for m in await stage.drafted() if "raven" in m.text and "kettle" in m.text]
    recalled = (await stage.recall("Who has the copper kettle?", "c", max_items=3)).memories
    assert [m.text for m in recalled if "kettle" in m.text] == [
        "Al: Could I borrow the copper kettle, he asked."
    ]
