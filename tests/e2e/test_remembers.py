"""The character remembers what has long left the prompt."""

from __future__ import annotations

import pytest

from .conftest import World
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact, chat


def long_chat(language: str, fact: Fact) -> list[tuple[str, str]]:
    """32 exchanges; the fact is told in the twelfth, 40 messages before the end."""
    talk = small_talk(language, 31)
    return [*talk[:11], fact.exchange, *talk[11:]]


@pytest.mark.parametrize(
    ("language", "name", "fact"),
    [
        ("en", "Mira", KEY),
        pytest.param("zh", "米拉", KEY_ZH, marks=pytest.mark.nightly),
    ],
    ids=["en", "zh"],
)
def test_what_was_said_40_messages_ago_reaches_the_model(
    world: World, language: str, name: str, fact: Fact
) -> None:
    lines = chat(name, long_chat(language, fact))
    assert len(lines) == 64
    avatar = world.data.add_character(f"remembers_{language}", name, first="Hello.", lines=lines)
    world.page.load()
    world.page.wait_for_dot("ok")
    world.page.open_character(avatar)
    prompt = world.page.send(fact.question)

    assert prompt.in_chat(fact.words) == 0, (
        "the window still holds the message itself: the test proves nothing"
    )
    assert prompt.in_chat(fact.question) == 1
    assert prompt.recalled(fact.words) == 1
    recall = world.page.last_recall
    assert recall is not None
    assert not recall["timed_out"]


def test_a_renamed_chat_keeps_its_memory(world: World) -> None:
    lines = chat("Mira", long_chat("en", KEY))
    avatar = world.data.add_character("renamed", "Mira", first="Hello.", lines=lines)
    world.page.load()
    world.page.wait_for_dot("ok")
    world.page.open_character(avatar)
    world.page.sync()
    before = world.page.soulmem
    world.page.slash("/renamechat The road north")
    assert world.page.chat_name == "The road north"
    prompt = world.page.send(KEY.question)

    assert prompt.recalled(KEY.words) == 1
    after = world.page.soulmem
    assert (after["chat"], after["soul"]) == (before["chat"], before["soul"])
    chats = world.sidecar.ask("GET", f"/chats?soul={after['soul']}")["chats"]
    assert [head["id"] for head in chats] == [after["chat"]], (
        "the renamed chat was taken for a second one"
    )
