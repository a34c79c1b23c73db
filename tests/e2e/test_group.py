"""In a group each member remembers only what it witnessed."""

from __future__ import annotations

import pytest

from .conftest import World
from .small_talk import small_talk
from .stories import FEVER, KEY, PARROT, chat

NAMES = ("Mira", "Bodo", "Cleo")


@pytest.mark.oldest
def test_each_member_remembers_only_what_it_witnessed(world: World) -> None:
    """The parrot: only Mira, alone with the user. The key: while Cleo is muted. The fever: all three."""
    lines = {"Mira": chat("Mira", [PARROT.exchange, *small_talk("en", 2)])}
    avatars = {
        name: world.data.add_character(
            f"group_{name}", name, first="Hello.", lines=lines.get(name, ())
        )
        for name in NAMES
    }
    world.data.add_group("trio", "Trio", list(avatars.values()), muted=[avatars["Cleo"]])
    page = world.page
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatars["Mira"])
    page.sync()
    page.open_group("Trio")

    page.say_without_reply(KEY.exchange[0])
    world.llm.will_say(KEY.exchange[1])
    page.let_speak("Bodo")
    page.slash("/member-enable Cleo")
    page.say_without_reply(FEVER.exchange[0])
    world.llm.will_say(FEVER.exchange[1])
    page.let_speak("Cleo")
    page.talk("Bodo", small_talk("en", 18, start=2))
    page.let_speak("Mira")

    prompts = {}
    for name in NAMES:
        page.say_without_reply(" ".join(fact.question for fact in (KEY, PARROT, FEVER)))
        prompts[name] = page.let_speak(name)

    for name, prompt in prompts.items():
        assert prompt.in_chat(KEY.words) == prompt.in_chat(FEVER.words) == 0, "still in the window"
        assert prompt.recalled(FEVER.words) == 1, f"{name} was there when the fever was told"
    assert prompts["Mira"].recalled(KEY.words) == 1
    assert prompts["Bodo"].recalled(KEY.words) == 1
    assert prompts["Cleo"].count(KEY.words) == 0, "Cleo was muted when the key was told"
    assert prompts["Mira"].recalled(PARROT.words) == 1
    assert prompts["Bodo"].count(PARROT.words) == 0, "only Mira was told of the parrot"
    assert prompts["Cleo"].count(PARROT.words) == 0, "only Mira was told of the parrot"
