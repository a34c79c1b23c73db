"""Does a text ask, and for how many things?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.questions import (
    asks_for_cause,
    is_question,
    only_raises,
    split_question,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Where did Mia hide the ledger, and what did Bob promise at the mill?",
            ["Where did Mia hide the ledger", "what did Bob promise at the mill?"],
        ),
        (
            "Tell me what Bob promised at the mill, and where did Mia hide the ledger?",
            ["Tell me what Bob promised at the mill", "where did Mia hide the ledger?"],
        ),
        (
            "Did Anna marry Bob, and is Carl still in Rome?",
            ["Did Anna marry Bob", "is Carl still in Rome?"],
        ),
        (
            "do you remember where the key is and who sold the boat",
            ["do you remember where the key is", "who sold the boat"],
        ),
        (
            "You told me about your sister. What was her name? And where does she live?",
            [
                "You told me about your sister. What was her name?",
                "where does she live?",
            ],
        ),
        (
            "小雨把账本藏在哪里了，还有，阿力在老磨坊答应了什么？",
            ["小雨把账本藏在哪里了", "阿力在老磨坊答应了什么？"],
        ),
        (
            "阿力在老磨坊答应了什么？另外，小雨把账本藏到哪儿去了？",
            ["阿力在老磨坊答应了什么？", "小雨把账本藏到哪儿去了？"],
        ),
        (
            "莉娜的项链是谁送的以及汉斯为什么离开了村子",
            ["莉娜的项链是谁送的", "汉斯为什么离开了村子"],
        ),
        (
            "Wo ist Anna heute? Und was hat Bob im Keller versprochen?",
            ["Wo ist Anna heute?", "Und was hat Bob im Keller versprochen?"],
        ),
    ],
)
def test_a_text_that_asks_for_several_things_has_a_part_for_each(
    text: str, parts: list[str]
) -> None:
    """With and without marks, by joints, question words and sentences."""
    assert split_question(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "When we met at the mill, what did you say?",
        "What did Anna and Bob promise?",
        "Do you know how and why he left?",
        "Where and when did we meet the hangman?",
        "Who is Anna and what did she do?",
        "When did Anna meet people on a hike and have a bad experience?",
        "Did Anna cook the stew and did the dishes?",
        "I know what you did in Rome, and where you went in May.",
        "Really? What did you do with the boat?",
        "The ledger and the boat are gone.",
        "你记得吗，那年夏天，我们在河边说了什么？",
        "没什么，我什么都不怕。",
        "Ich weiß, was du im Keller getan hast, und wo du warst.",
    ],
)
def test_a_text_that_asks_for_one_thing_or_nothing_stays_whole(text: str) -> None:
    """Conditions, lists of names, and clauses that name nothing make no part."""
    assert split_question(f" {text} ") == [text]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_blank_text_has_no_part(text: str) -> None:
    """There is nothing to search for."""
    assert split_question(text) == []


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Shall we go on?", True),
        ("where did you put it", True),
        ("what did the goose do", True),
        ("Tell me what he said.", True),
        ("你还记得莉娜的项链在哪吗", True),
        ("アンナはどこ？", True),
        ("*She asks what he has done.* Where is he?", True),
        ("*He asks where she is. Does she know?* Fine.", False),
        ("*她问他到底去了哪里，是谁送的？* 嗯。", False),
        ("What a long road.", False),
        ("Have a seat.", False),
        ("没什么，我什么都不怕。", False),
        ("Ich gehe nach Hause.", False),
    ],
)
def test_a_question_is_told_from_a_statement(text: str, asks: bool) -> None:
    """By its mark, by the order of its words, or by a request to tell."""
    assert is_question(text) is asks


@given(st.text(max_size=200))
def test_parts_are_made_of_the_text_in_its_order(text: str) -> None:
    """No part has words that the text does not have, and none is blank."""
    start = 0
    for part in split_question(text):
        assert part.strip()
        start = text.index(part, start) + len(part)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Why is she afraid of the goose?", True),
        ("How come nobody takes the ferry?", True),
        ("What made him leave Rome?", True),
        ("For what reason did he leave?", True),
        ("她为什么怕鹅？", True),
        ("说书为何要脱鞋？", True),
        ("Where did he leave the boat?", False),
        ("What did he make of it?", False),
        ("她怕什么？", False),
    ],
)
def test_a_question_for_a_cause_is_told(text: str, asks: bool) -> None:
    """By its words; whether the text asks at all is another question."""
    assert asks_for_cause(text) is asks


@pytest.mark.parametrize(
    "text",
    [
        "What about Ann?",
        "And Ann?",
        "Ann?",
        "What about Ann or Bo then?",
        "「Ann」怎么样了？",
        "那Ann呢？",
    ],
)
def test_what_says_nothing_but_a_name_only_brings_it_up(text: str) -> None:
    assert only_raises(text, ("Ann", "Bo"))


@pytest.mark.parametrize(
    "text",
    [
        "Who is Ann?",
        "Do you remember Ann?",
        "What about Ann and the well?",
        "Where is Ann?",
        "Ann是谁？",
        "还记得Ann吗？",
    ],
)
def test_what_asks_something_of_a_name_does_more(text: str) -> None:
    assert not only_raises(text, ("Ann", "Bo"))
