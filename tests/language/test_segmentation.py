"""Which thoughts does a message hold?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.segmentation import pieces, sentences, thoughts


@pytest.mark.parametrize(
    ("text", "single"),
    [
        (
            '*She leans back.* "The stew is good. Really good!" Anyway, are you done?',
            [
                "She leans back.",
                "The stew is good.",
                "Really good!",
                "Anyway, are you done?",
            ],
        ),
        (
            "*抖了抖书包上的水* 同学，你也没带伞？我有一把。",
            ["抖了抖书包上的水", "同学，你也没带伞？", "我有一把。"],
        ),
        ("“好啊。”她说。", ["好啊。", "她说。"]),
        ("one line\nand another", ["one line", "and another"]),
        (
            "It costs 3.50 at www.shop.example today",
            ["It costs 3.50 at www.shop.example today"],
        ),
        ("Hm. Ok. ...", []),
        ("", []),
    ],
)
def test_a_message_falls_into_its_thoughts(text: str, single: list[str]) -> None:
    """Speech and action apart, without quotes and asterisks, and without what says nothing."""
    assert thoughts(text, 6) == single


@given(st.integers(1, 8), st.integers(1, 40))
def test_no_more_than_asked_for_and_nothing_lost(most: int, count: int) -> None:
    """Neighbours are joined, in order."""
    text = " ".join(f"Sentence number {i} ends." for i in range(count))
    found = thoughts(text, most)
    assert len(found) == min(most, count)
    assert " ".join(found) == text


@pytest.mark.parametrize(
    ("text", "single"),
    [
        (
            "Dr. Sable thanked Mrs. Oak at 3.30 p.m. She left.",
            ["Dr. Sable thanked Mrs. Oak at 3.30 p.m.", "She left."],
        ),
        ("She left... Nobody saw it!", ["She left...", "Nobody saw it!"]),
        ("他走了。她哭了！“真的？”", ["他走了。", "她哭了！", "“真的？”"]),
    ],
)
def test_sentences(text: str, single: list[str]) -> None:
    assert sentences(text) == single


@given(st.text(max_size=200))
def test_the_pieces_of_a_text_are_all_of_it(text: str) -> None:
    assert "".join(pieces(text)) == text
