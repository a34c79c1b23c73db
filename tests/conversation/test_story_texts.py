"""Are the stories of a chat those of its messages alone, and free of what each reply repeats?"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from soulmem.conversation.story_texts import StoryTexts, as_story
from soulmem.domain.dialogue import Message, Role, text_hash
from soulmem.domain.ids import SlotId
from soulmem.domain.sequences import Grown

PLACES = ["kitchen", "yard", "cellar", "attic", "market"]
TRACKERS = [
    "[Mood: {a} | Place: {b} | Affection: {n}/100]",
    "*Time: 08:{n} \u00b7 Place: {b} \u00b7 Weather: {a}*",
    "\u23f0 08:{n} | \U0001f4cd {b} | \u2764 {n}",
    "Day 3 | 08:{n} | {b} | {a}",
    "Mood: {a}",
    "\u5fc3\u60c5\uff1a{a}\uff5c\u5730\u70b9\uff1a{b}",
]


def says(number: int, text: str, role: Role = Role.CHARACTER) -> Message:
    """A message of the chat."""
    speaker = "Tobin" if role is Role.USER else "Mira"
    return Message(SlotId(f"m{number}"), text_hash(text), role, speaker, text)


def chat(tracker: str, count: int = 12, seed: int = 3) -> list[Message]:
    """Questions and answers, each answer with a tracker below it."""
    draw = random.Random(seed)
    out: list[Message] = []
    for number in range(count):
        out.append(says(len(out), f"What is in the {PLACES[number % 5]}?", Role.USER))
        line = tracker.format(
            a=draw.choice(["wary", "calm", "tired"]),
            b=draw.choice(PLACES),
            n=draw.randrange(10, 60),
        )
        out.append(says(len(out), f"*shrugs* Nothing, number {number}.\n\n{line}"))
    return out


def texts(messages: list[Message]) -> list[str]:
    """The stories of a chat that is read at once."""
    return [m.text for m in StoryTexts().of(messages, "Tobin")]


@pytest.mark.parametrize("tracker", TRACKERS)
def test_a_tracker_below_each_reply_is_left_out_of_all(tracker: str) -> None:
    messages = chat(tracker)
    told = [m.text.split("\n\n")[0] for m in messages]
    assert texts(messages) == told
    assert [m.text for m in map(as_story, messages)] == [m.text for m in messages]


def test_lines_that_share_no_labels_stay() -> None:
    messages = [
        says(n, f"She wrote a list.\n{thing}: {n} pounds | {other}: none")
        for n, (thing, other) in enumerate(
            [("Flour", "Milk"), ("Nails", "Wood"), ("Rope", "Oil"), ("Salt", "Fish")]
        )
    ]
    assert texts(messages) == [m.text for m in messages]


def test_lines_of_a_script_stay_whoever_speaks() -> None:
    messages = [
        says(n, f"Mira: {word}\nTobin: sure")
        for n, word in enumerate(["yes", "no", "so", "now", "then"])
    ]
    assert texts(messages) == [m.text for m in messages]


def test_the_same_words_in_reply_after_reply_stay() -> None:
    messages = [
        says(
            n,
            f"*wipes the {p}* The wagon was slow today, nobody came.\n\u201cWell: no.\u201d",
        )
        for n, p in enumerate(PLACES)
    ]
    assert texts(messages) == [m.text for m in messages]


@pytest.mark.parametrize("seed", range(6))
def test_changes_of_a_chat_give_what_reading_it_anew_gives(seed: int) -> None:
    draw = random.Random(seed)
    kept, messages = StoryTexts(), Grown(chat(TRACKERS[seed], 30, seed))
    source = chat(TRACKERS[(seed + 1) % 6], 40, seed + 1)
    for step in range(40):
        place = draw.randrange(len(messages) + 1)
        items = list(messages)
        way = draw.randrange(4)
        if way == 0:
            del items[place : place + draw.randrange(1, 4)]
        elif way == 1:
            items[place:place] = [replace(source[step], slot=SlotId(f"n{step}"))]
        elif way == 2:
            items[place : place + 1] = [replace(source[step], slot=SlotId(f"n{step}"))]
        else:
            messages = messages.extended([replace(source[step], slot=SlotId(f"n{step}"))])
            items = list(messages)
        if way != 3:
            messages = Grown(items)
        told = kept.of(messages, "Tobin")
        assert list(told) == list(StoryTexts().of(list(items), "Tobin"))
        assert len(told) == len(items)


def test_a_message_that_is_all_story_stays_the_same_object() -> None:
    message = says(1, "The key hangs behind the clock.")
    assert StoryTexts().of([message], "Tobin")[0] is message


def test_macros_of_a_greeting_are_the_names_of_those_who_speak() -> None:
    greeting = says(0, "{{char}} hands {{user}} a telescope.")
    answer = says(1, "I look through it.", Role.USER)
    told = "Mira hands Tobin a telescope."
    assert texts([greeting, answer])[0] == told
    assert StoryTexts().of([greeting], "Tobin")[0].text == told


def test_what_the_prompt_shows_is_read_instead_of_the_text() -> None:
    text = "The key is here.\n@@secret note of the card@@"
    message = replace(says(0, text), story="The key is here.<br>")
    (told,) = StoryTexts().of([message], "Tobin")
    assert (told.text, told.hash) == ("The key is here.", text_hash(text))
    assert {part.kind.value for part in told.left_out} == {"markup", "rest"}


def test_a_system_message_stays_as_it_is() -> None:
    message = says(0, "<b>help</b>", Role.SYSTEM)
    assert StoryTexts().of([message], "Tobin")[0] is message
