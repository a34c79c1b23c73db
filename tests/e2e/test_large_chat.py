"""In a chat of 2,000 messages, what the user took back is forgotten, and only that."""

from __future__ import annotations

import pytest

from .conftest import World
from .small_talk import small_talk
from .stories import FEVER, KEY, PARROT, Exchange, Fact, chat

pytestmark = [pytest.mark.slow("a page of SillyTavern"), pytest.mark.nightly]

MESSAGES = 2000
CARGO = Fact(
    (
        "The Heron is loaded with forty casks of saffron, and only the harbour master knows.",
        "*She whistles.* Forty casks of saffron! I will not breathe a word.",
    ),
    "What is the Heron loaded with?",
    "saffron",
)
OATH = Fact(
    (
        "Let us swear by the moth queen's lantern that we part at Varn.",
        "*She raises her hand.* By the moth queen's lantern, at Varn.",
    ),
    "By what did we swear to part?",
    "moth queen",
)
CHANGED = Fact(PARROT.exchange, PARROT.question, "Vinegar")
FERRYMAN = Fact(("", ""), "Who is the ferryman of Quill?", "Petrel")
# Fills the window at once. What is recalled then has to stand below it, or SillyTavern leaves it out.
STORY = " ".join(mine for mine, _ in small_talk("en", 40))[:4000]


def told() -> list[Exchange]:
    """Facts all over the chat; what is edited or cut stands among the last, which the page shows."""
    talk = small_talk("en", MESSAGES // 2 - 5)
    for position, fact in (
        (-12, OATH),
        (-30, PARROT),
        (-36, FEVER),
        (len(talk) // 2, CARGO),
        (2, KEY),
    ):
        talk.insert(position % len(talk), fact.exchange)
    return talk


def test_a_large_chat_keeps_no_ghosts(world: World) -> None:
    lines = chat("Mira", told())
    assert len(lines) == MESSAGES
    avatar = world.data.add_character("large", "Mira", first="Hello.", lines=lines)
    page = world.page
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()

    # Swiped, edited, deleted, hidden.
    world.llm.will_say(
        "*She thinks.* The ferryman of Quill is called Barnaby Ostler.",
        "*She thinks.* The ferryman of Quill is called Jonas Petrel.",
    )
    page.send("Mira, what is the name of the ferryman of Quill?")
    page.swipe()
    index_of_fact = page.index_of(PARROT.exchange[0])
    for index, text in enumerate(PARROT.exchange, start=index_of_fact):
        page.edit(index, text.replace("Saltpetre", "Vinegar"))
    for fact, command in ((FEVER, "cut"), (KEY, "hide")):
        index_of_fact = page.index_of(fact.exchange[0])
        page.slash(f"/{command} {index_of_fact}-{index_of_fact + 1}")

    page.slash(f"/send {STORY}")
    page.send("Shall we go on?")

    for facts in ((KEY,), (CARGO,), (CHANGED, FEVER), (FERRYMAN,)):
        prompt = page.send(" ".join(fact.question for fact in facts))
        for fact in facts:
            assert prompt.recalled(fact.words) == (0 if fact is FEVER else 1), fact.words
        for ghost in ("Saltpetre", "willow bark", "Ostler"):
            assert prompt.count(ghost) == 0, ghost
    for ghost in ("Saltpetre", "Orsolo", "Ostler"):
        path = f"/memories?soul={page.soulmem['soul']}&q={ghost}&match=exact"
        assert world.sidecar.ask("GET", path)["memories"] == [], ghost

    # A branch from before the oath knows nothing of it.
    parent, fork = page.chat_name, page.index_of(OATH.exchange[0]) - 1
    page.slash(f"/branch-create {fork}")
    page.wait("name => SillyTavern.getContext().getCurrentChatId() !== name", arg=parent)
    prompt = page.send(OATH.question)
    assert prompt.count(OATH.words) == 0, "the branch knows what came after the fork"
    page.open_chat(parent)
    assert page.send(OATH.question).recalled(OATH.words) == 1
