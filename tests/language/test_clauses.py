"""Where a text is cut at clauses, and which quotations belong to a longer sentence."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.clauses import clauses, quotes


def parts(text: str, start: int = 0) -> list[str]:
    """The clauses as words."""
    return [text[begin:end] for begin, end in clauses(text, start)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I walked down to the harbour with Tom, and he gave me a silver locket.",
            ["I walked down to the harbour with Tom", "and he gave me a silver locket"],
        ),
        (
            "He paid 3.50 coins at 10:30 because he wanted the boat.",
            ["He paid 3.50 coins at 10:30", "because he wanted the boat"],
        ),
        ("Mr. Pettibone sold 1,000 eggs today!", ["Mr. Pettibone sold 1,000 eggs today"]),
        (
            '*leans on the rail* "I promise you," she said (quietly).',
            ["leans on the rail", "I promise you", "she said", "quietly"],
        ),
        (
            'She read "The Blue Lantern" to me and I fell asleep.',
            ['She read "The Blue Lantern" to me', "and I fell asleep"],
        ),
        (
            "小雨在码头送给我一只银色的吊坠，里面有一座小钟。她说：“好，我答应你。”",
            ["小雨在码头送给我一只银色的吊坠", "里面有一座小钟", "她说", "好，我答应你"],
        ),
        ("苹果、梨和桃子都卖完了", ["苹果、梨和桃子都卖完了"]),
        (
            "港で銀のペンダントを買ったの、すごくきれいなやつ。「約束だよ」と彼は言った。",
            ["港で銀のペンダントを買ったの", "すごくきれいなやつ", "約束だよ", "と彼は言った"],
        ),
        ("Er ging nach Hause, weil es stark regnete.", ["Er ging nach Hause", "weil es stark regnete"]),
        ("...", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_text_is_cut_at_its_clauses(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_a_clause_of_a_word_or_two_goes_with_its_neighbour() -> None:
    assert parts("Well, yes, I did see the red boat there.") == [
        "Well, yes, I did see the red boat there"
    ]


def test_the_label_of_who_speaks_belongs_to_no_clause() -> None:
    text = "Old Mia: I sold the boat."
    assert parts(text, len("Old Mia: ")) == ["I sold the boat"]


def test_quotations_within_a_sentence_are_told_from_speech() -> None:
    text = 'Ann whispered "stay with me" and left. "Nobody heard it."'
    assert [text[begin:end] for begin, end in quotes(text)] == ["stay with me"]


@given(st.text(alphabet='ab ,."“”()*，。「」\n', max_size=60))
def test_clauses_are_in_order_and_hold_no_half_of_a_pair(text: str) -> None:
    before = 0
    for begin, end in clauses(text):
        assert before <= begin < end <= len(text)
        before = end
        clause = text[begin:end]
        assert clause.strip() == clause
        assert "(" not in clause
        assert ")" not in clause
        assert clause.count('"') % 2 == 0
        assert clause.count("“") == clause.count("”")
        assert clause.count("「") == clause.count("」")


@pytest.mark.parametrize(
    "text", ['a "b" ' * 4000, '"a' * 9000, "a," * 15000, "<" * 30000, "and " * 8000]
)
def test_a_runaway_text_is_cut_in_time(text: str) -> None:
    began = time.process_time()
    clauses(text)
    assert time.process_time() - began < 1.5
