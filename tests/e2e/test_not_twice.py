"""Nothing is in the prompt twice: nothing of the card, the greeting, the lore, or the chat."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import chain

import pytest

from .conftest import World
from .mock_llm import Prompt
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, chat

pytestmark = pytest.mark.slow("a page of SillyTavern")

DESCRIPTION = (
    "{{char}} keeps the lighthouse on the Isle of Varn, alone with a grey cat called Biscuit."
)
GREETING = "*Rain drums on the lighthouse glass, somebody knocks below.* Who is out there at this hour, {{user}}?"
LORE = "Varn is an island of seven lighthouses in the cold north, and nobody lives there but the keepers."
LORE_ZH = "瓦恩岛在寒冷的北方，岛上有七座灯塔，除了守塔人以外没有人住在那里。"
CAT = "My grey cat Biscuit once swam all the way from Varn to the harbour of Brask."
HARBOUR = "[The harbour of Brask on the ninth of October, light rain, late evening]"
SAYINGS = (
    "Do you remember where I hid the brass key? I never told you why I hid it there at all.",
    "Tell me again of your cat, and of the seven lighthouses of Varn, please.",
    "你还记得我把铜钥匙藏在哪里了吗？瓦恩岛上到底有几座灯塔？",
    "I hid the brass key in the hollow oak behind the chapel, as I told you before we slept.",
    "What rains so hard on the glass tonight? Who knocked below at this hour?",
)
REPLIES = (
    f"*She nods.* {CAT} {HARBOUR}",
    f"{LORE} That is what they say of it. {HARBOUR}",
    f"她想了想。{LORE_ZH}你也知道的。",
    f"The brass key lies in the hollow oak behind the chapel, and I will not say a word. {HARBOUR}",
    f'"Nobody knocks," she says. It is only the rain on the old roof, I think, my friend. {HARBOUR}',
)
OURS = re.compile(
    r"\[(What |Mira |米拉)"
)  # every block of ours begins so, and no preset of these tests
LARGE = "size => { SillyTavern.getContext().chatCompletionSettings.openai_max_context = size; }"


def sentences(text: str) -> Iterator[str]:
    """The sentences of eight words or twelve Han signs and more, without punctuation and case."""
    for piece in re.split(r"[.!?\n。！？*]", text):
        words = re.sub(r"\A[^:：]{1,20}[:：]", "", piece)  # who said it stands before
        plain = letters(words)
        if len(re.findall("[\u4e00-\u9fff]", plain)) >= 12 or len(plain.split()) >= 8:
            yield plain


def letters(text: str) -> str:
    """Its words, or signs."""
    return " ".join(
        re.findall(
            r"[\u4e00-\u9fff]|(?:(?![\u4e00-\u9fff])\w)+",
            text.casefold().replace("'", ""),
        )
    )


def blocks(prompt: Prompt) -> tuple[list[str], list[str]]:
    """The lines that are ours, and all other texts of the prompt."""
    ours: list[str] = []
    others: list[str] = []
    for message in prompt.messages:
        content = message["content"]
        is_ours = message["role"] == "system" and OURS.match(content)
        (ours if is_ours else others).extend(content.split("\n") if is_ours else [content])
    return ours, others


def twice(prompt: Prompt) -> list[str]:
    """Sentences of ours that stand elsewhere in the prompt as well."""
    ours, others = blocks(prompt)
    elsewhere = " | ".join(map(letters, others))
    recalled = list(chain.from_iterable(map(sentences, ours)))
    return [
        sentence
        for sentence in recalled
        if f" {sentence} " in f" {elsewhere} " or recalled.count(sentence) > 1
    ]


def take_in(world: World, card: bytes) -> None:
    """All that "Import everything" sends of a card and its world."""
    soul = world.page.soulmem["soul"]
    body = {
        "soul": soul,
        "format": "card",
        "name": "mira.png",
        "base64": base64.b64encode(card).decode(),
    }
    world.sidecar.ask("POST", "/import", {**body, "persona": "Alice", "dry_run": False})
    world.sidecar.until_searchable()


def test_with_the_whole_chat_in_the_context_card_and_greeting_cost_nothing(
    world: World,
) -> None:
    page = world.page
    avatar = world.data.add_character("whole", "Mira", first=GREETING, description=DESCRIPTION)
    page.load()
    page.wait_for_dot("ok")
    page.tab.evaluate(LARGE, 16_384)
    page.open_character(avatar)
    page.sync()
    take_in(world, world.data.card(avatar))
    for mine, hers in small_talk("en", 6):
        page.slash(f"/send {mine}")
        page.slash(f'/sendas name="Mira" {hers}')
    prompt = page.send(
        "Who keeps the lighthouse of Varn, and what is your grey cat called? Who knocked in the rain?"
    )
    assert prompt.count("keeps the lighthouse on the Isle of Varn, alone") == 1
    assert prompt.count("Rain drums on the lighthouse glass") == 1
    recall = page.last_recall
    assert recall is not None
    assert recall["tokens"] == 0, recall["blocks"]

    # A new chat begins with the same words.
    page.slash("/newchat")
    prompt = page.send(
        "Who keeps the lighthouse of Varn? Who knocked in the rain, and asked who is out there?"
    )
    assert prompt.count("Rain drums on the lighthouse glass") == 1
    assert not twice(prompt)


@pytest.mark.nightly
def test_in_three_chats_no_sentence_stands_twice_in_a_prompt(world: World) -> None:
    page = world.page
    world.data.add_world("Varn", [("lighthouse", LORE), ("灯塔", LORE_ZH)])
    exchanges = [
        KEY.exchange,
        KEY_ZH.exchange,
        ("Tell me of your cat.", CAT),
        ("And the island?", f"{LORE}\n{LORE_ZH}"),
    ]
    old = chat("Mira", [*exchanges, *small_talk("en", 14), *small_talk("zh", 8)])
    avatar = world.data.add_character(
        "thrice",
        "Mira",
        first=GREETING,
        description=DESCRIPTION,
        lines=old,
        world="Varn",
    )
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    take_in(world, world.data.card(avatar))
    used = turns = 0
    for number in range(3):
        if number:
            page.slash("/newchat")
        for turn in range(20):
            index = (turn + number) % len(SAYINGS)
            talk = small_talk("zh" if turn % 4 == 3 else "en", 1, turn)[0]
            world.llm.will_say(REPLIES[index] if turn % 3 else talk[1])
            prompt = page.send(SAYINGS[index] if turn % 2 else talk[0])
            ours, _ = blocks(prompt)
            assert not twice(prompt), f"turn {turn} of chat {number}"
            used += any(chain.from_iterable(map(sentences, ours)))
            turns += 1
    assert turns == 60
    assert used >= 30, "nearly nothing was recalled: the test proves nothing"
