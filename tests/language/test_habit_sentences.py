"""Habits that the sentences of a card state."""

from __future__ import annotations

import pytest

from soulmem.language.habit_sentences import Often, StatedHabit, stated_habit

NAMES = ("Mira", "米拉")


@pytest.mark.parametrize(
    ("sentence", "when", "does", "often"),
    [
        (
            "Whenever somebody praises her, she denies that she cares.",
            "somebody praises her",
            "denies that she cares",
            Often.ALWAYS,
        ),
        (
            "When nervous, Mira often bites her lip.",
            "nervous",
            "bites her lip",
            Often.OFTEN,
        ),
        (
            "She hums the ferry song whenever it rains",
            "it rains",
            "hums the ferry song",
            Often.ALWAYS,
        ),
        (
            "If the bell rings twice, late at night, she reaches for the rope.",
            "the bell rings twice, late at night",
            "reaches for the rope",
            Often.OFTEN,
        ),
        (
            "Mira will change the subject when asked about her brother.",
            "asked about her brother",
            "change the subject",
            Often.OFTEN,
        ),
        (
            "When drunk, she sometimes sings.",
            "drunk",
            "sings",
            Often.SOMETIMES,
        ),
        (
            "When asked for help, she never answers at once.",
            "asked for help",
            "never answers at once",
            Often.ALWAYS,
        ),
        (
            "Whenever it rains, he doesn't talk.",
            "it rains",
            "doesn't talk",
            Often.ALWAYS,
        ),
        (
            "Whenever it rained, Mira hummed the ferry song.",
            "it rained",
            "hummed the ferry song",
            Often.ALWAYS,
        ),
        (
            "She chewed her lip every time she was asked about the bell",
            "she was asked about the bell",
            "chewed her lip",
            Often.ALWAYS,
        ),
        (
            "Whenever it rains she hums.",
            "it rains",
            "hums",
            Often.ALWAYS,
        ),
        (
            "When she is nervous she bites her lip.",
            "she is nervous",
            "bites her lip",
            Often.OFTEN,
        ),
        ("They sing when drunk.", "drunk", "sing", Often.OFTEN),
        ("每当有人夸奖她，她就嘴上说不在乎。", "有人夸奖她", "嘴上说不在乎", Often.ALWAYS),
        ("每次下雨，米拉都会哼渡船歌。", "下雨", "哼渡船歌", Often.ALWAYS),
        ("她一紧张就咬嘴唇。", "紧张", "咬嘴唇", Often.ALWAYS),
        ("有人问起哥哥的时候，她往往会岔开话题。", "有人问起哥哥", "岔开话题", Often.OFTEN),
        ("喝醉时，她有时会唱歌。", "喝醉", "唱歌", Often.SOMETIMES),
        ("只要听见铃响两次，就会伸手去抓绳子。", "听见铃响两次", "伸手去抓绳子", Often.ALWAYS),
    ],
)  # fmt: skip
def test_a_habit_is_read_from_a_sentence(sentence: str, when: str, does: str, often: Often) -> None:
    assert stated_habit(sentence, NAMES) == StatedHabit(when, does, often)


@pytest.mark.parametrize(
    "sentence",
    [
        "When she was twelve, her mother died.",
        "When the war ended, she moved to Vell.",
        "When she was small, she loves snow.",
        "She hummed when it rained.",
        "They sang when the war ended.",
        "They went home when the bell rang.",
        "When she told him he loves her she runs.",
        "Whenever Bruno comes, his dog barks.",
        "She lives in the Lantern House.",
        "Mira knows when the ferry left and that it sank.",
        "Whenever it rains it pours.",
        "Whenever it snows, it gets quiet in the valley.",
        "It always smells of tar when the wind turns.",
        "Every time the tide falls, the bell rings.",
        "当年她离开了家，走了很远。",
        "她十二岁的时候，母亲去世了。",
        "她住在灯塔里。",
        "有一天他来了，就走了。",
        "",
    ],
)
def test_a_story_is_no_habit(sentence: str) -> None:
    assert stated_habit(sentence, NAMES) is None


def test_in_a_list_of_habits_nobody_has_to_be_named() -> None:
    text = "bites her lip when nervous"
    assert stated_habit(text, NAMES) is None
    listed = stated_habit(text, NAMES, is_listed=True)
    assert listed == StatedHabit("nervous", "bites her lip", Often.OFTEN)


def test_in_a_list_of_habits_it_is_who_the_list_is_of() -> None:
    text = "When idle, it hums."
    assert stated_habit(text, NAMES) is None
    assert stated_habit(text, NAMES, is_listed=True) == StatedHabit("idle", "hums", Often.OFTEN)
