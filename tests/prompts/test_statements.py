"""Texts are cut into statements and joined again without some of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.prompts.grounding.statements import Statements, standing

STATEMENTS = Statements(("Al", "Petra", "Mira", "米拉", "苏晴"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Al walks to the harbour, Petra sells her boat. It rains.",
            ["Al walks to the harbour,", "Petra sells her boat.", "It rains."],
        ),
        (
            "Al walks to the harbour; and then Petra sells her boat.",
            ["Al walks to the harbour;", "and then Petra sells her boat."],
        ),
        (
            "Al walks to the harbour, then fetches the lantern.",
            ["Al walks to the harbour,", "then fetches the lantern."],
        ),
        ("Al, Petra and Mira walked to the harbour.", None),
        ("Al met Petra, Mira and their friends.", None),
        ("In the evening, Al walked to the harbour.", None),
        ("Al walked to the harbour, tired and wet.", None),
        ("Al saw Petra, who sold boats, then.", None),
        ("米拉去港口，苏晴卖船。", ["米拉去港口，", "苏晴卖船。"]),
        ("Mira sings. Mira sings. Mira si", ["Mira sings."]),
    ],
)
def test_what_a_text_states(text: str, parts: list[str] | None) -> None:
    assert [statement.text for statement in STATEMENTS.of(text)] == (parts or [text])


@pytest.mark.parametrize(
    ("text", "kept", "rest"),
    [
        (
            "Al walks home slowly, Petra sells her boat. It rains.",
            [0, 2],
            "Al walks home slowly. It rains.",
        ),
        (
            "Al walks home slowly, Petra sells her boat. It rains.",
            [1],
            "Petra sells her boat.",
        ),
        (
            "Al walks home slowly, and Petra sells her boat.",
            [1],
            "Petra sells her boat.",
        ),
        (
            "Al walks home slowly, then fetches the lantern.",
            [0],
            "Al walks home slowly.",
        ),
        (
            "Al walks home slowly, then fetches the lantern, Petra sells her boat.",
            [0, 1],
            "Al walks home slowly, then fetches the lantern.",
        ),
        (
            "Al walks home slowly, Petra sells her boat, Mira dances every evening.",
            [0, 2],
            "Al walks home slowly. Mira dances every evening.",
        ),
        ("米拉去港口，苏晴卖船。下雨了。", [0, 2], "米拉去港口。下雨了。"),
        ("Mira sings. Mira sings. It rains.", [0, 1], "Mira sings. It rains."),
        ("It rains.", [], ""),
    ],
)
def test_a_text_without_some_of_it(text: str, kept: list[int], rest: str) -> None:
    every = STATEMENTS.of(text)
    assert STATEMENTS.told([every[index] for index in kept], text) == rest


@given(st.text(alphabet="AlPetra ,;.then米拉，。", max_size=60))
def test_nothing_is_lost_but_what_is_said_again(text: str) -> None:
    every = STATEMENTS.of(text)
    joined = STATEMENTS.told(every, text)
    assert STATEMENTS.told(STATEMENTS.of(joined), joined) == joined
    assert all(statement.text in text for statement in every)
    letters = {character for character in text if character.isalpha()}
    assert {character.lower() for character in letters} == {
        character.lower() for character in joined if character.isalpha()
    }


def test_what_goes_on_is_marked() -> None:
    every = STATEMENTS.of(
        "Al walks home slowly, then fetches the lantern, Petra sells her boat."
    )
    assert [statement.goes_on for statement in every] == [False, True, False]
    assert standing(every, lambda statement: statement is not every[0]) == [every[2]]
    assert standing(every, lambda statement: statement is not every[2]) == every[:2]
