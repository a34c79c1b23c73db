"""Which thoughts does a message hold?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.segmentation import thoughts


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
