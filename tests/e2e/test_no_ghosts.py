"""What the user took back is forgotten, and only that.

Each test tells two things, takes one back, talks on until both are out of the prompt, and asks for both.
"""

from __future__ import annotations

import pytest

from .conftest import World
from .mock_llm import Prompt
from .small_talk import small_talk
from .stories import FEVER, KEY, PARROT, Fact, chat

ENOUGH_TO_FORGET = 18  # exchanges of small talk that fill the window


def enter(world: World, key: str, *facts: Fact) -> None:
    """Open a chat in which `facts` were told and nothing else."""
    lines = chat("Mira", [small_talk("en", 1)[0], *(fact.exchange for fact in facts)])
    avatar = world.data.add_character(key, "Mira", first="Hello.", lines=lines)
    world.page.load()
    world.page.wait_for_dot("ok")
    world.page.open_character(avatar)
    world.page.sync()


def ask_for(world: World, *facts: Fact) -> Prompt:
    """Talk on until the window holds nothing of `facts`, then ask for them."""
    world.page.talk_on("Mira", small_talk("en", ENOUGH_TO_FORGET, start=15))
    prompt = world.page.send(" ".join(fact.question for fact in facts))
    for fact in facts:
        assert prompt.in_chat(fact.words) == 0, "still in the window: the test proves nothing"
    return prompt


@pytest.mark.oldest
def test_a_swiped_reply_leaves_no_ghost(world: World) -> None:
    enter(world, "swipe", KEY)
    page = world.page
    world.llm.will_say(
        "*She thinks.* The ferryman of Quill is called Barnaby Ostler.",
        "*She thinks.* The ferryman of Quill is called Jonas Petrel.",
    )
    page.send("Mira, what is the name of the ferryman of Quill?")
    page.swipe()
    question = Fact(("", ""), "Who is the ferryman of Quill?", "Ostler")
    prompt = ask_for(world, KEY, question)

    assert prompt.recalled("Petrel") == 1
    assert prompt.recalled(KEY.words) == 1
    assert prompt.count("Ostler") == 0


def test_an_edited_message_leaves_no_ghost(world: World) -> None:
    enter(world, "edit", KEY, PARROT)
    page = world.page
    page.edit(
        page.index_of("grandmother's parrot"),
        PARROT.exchange[0].replace("Saltpetre", "Vinegar"),
    )
    page.edit(page.index_of("Saltpetre"), PARROT.exchange[1].replace("Saltpetre", "Vinegar"))
    prompt = ask_for(world, KEY, PARROT)

    assert prompt.recalled("Vinegar") == 1
    assert prompt.recalled(KEY.words) == 1
    assert prompt.count("Saltpetre") == 0


@pytest.mark.nightly
def test_a_deleted_message_leaves_no_ghost(world: World) -> None:
    enter(world, "delete", KEY, PARROT, FEVER)
    page = world.page
    index = page.index_of("grandmother's parrot")
    page.slash(f"/cut {index}-{index + 1}")
    prompt = ask_for(world, KEY, PARROT, FEVER)

    assert prompt.recalled(FEVER.words) == 1
    assert prompt.recalled(KEY.words) == 1
    assert prompt.count(PARROT.words) == 0


@pytest.mark.oldest
def test_a_hidden_message_is_remembered_once(world: World) -> None:
    enter(world, "hide", KEY, PARROT)
    page = world.page
    soul, chat_id = page.soulmem["soul"], page.soulmem["chat"]
    before = memories_of_the_key(world, soul)
    index = page.index_of("brass key")
    page.slash(f"/hide {index}-{index + 1}")
    prompt = ask_for(world, KEY, PARROT)

    assert prompt.recalled(KEY.words) == 1
    assert prompt.recalled(PARROT.words) == 1
    stored = world.sidecar.stored(chat_id)
    assert [message["hidden"] for message in stored[index : index + 3]] == [
        True,
        True,
        False,
    ]
    assert memories_of_the_key(world, soul) == before, "hiding made a second memory, or lost one"
    for memory in before:
        assert str(prompt).count(memory) <= 1, "told twice in one prompt"


def memories_of_the_key(world: World, soul: str) -> list[str]:
    """What the sidecar keeps that names the place of the key."""
    listed = world.sidecar.ask("GET", f"/memories?soul={soul}&limit=1000")["memories"]
    return sorted(memory["text"] for memory in listed if KEY.words in memory["text"])


@pytest.mark.oldest
def test_a_branch_and_its_parent_know_nothing_of_each_other(world: World) -> None:
    """The key is told before the fork, then the parrot in the parent and the fever in the branch."""
    exchanges = [
        KEY.exchange,
        small_talk("en", 1)[0],
        PARROT.exchange,
        *small_talk("en", ENOUGH_TO_FORGET, start=1),
    ]
    avatar = world.data.add_character(
        "branch", "Mira", first="Hello.", lines=chat("Mira", exchanges)
    )
    page = world.page
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    parent, fork = page.chat_name, page.index_of(PARROT.exchange[0]) - 1

    page.slash(f"/branch-create {fork}")
    page.wait("name => SillyTavern.getContext().getCurrentChatId() !== name", arg=parent)
    assert page.length == fork + 1
    page.talk_on("Mira", [FEVER.exchange])
    prompt = ask_for(world, KEY, FEVER, PARROT)
    assert prompt.recalled(KEY.words) == 1
    assert prompt.recalled(FEVER.words) == 1
    assert prompt.count(PARROT.words) == 0, "the branch knows what came after the fork"

    page.open_chat(parent)
    prompt = page.send(" ".join(fact.question for fact in (KEY, FEVER, PARROT)))
    assert prompt.recalled(KEY.words) == 1
    assert prompt.recalled(PARROT.words) == 1
    assert prompt.count(FEVER.words) == 0, "the parent knows what happened in the branch"
