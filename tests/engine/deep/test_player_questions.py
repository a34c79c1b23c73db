"""Questions as a player asks: of whom they ask depends on who spoke, in the language of what was said."""

from __future__ import annotations

import pytest

from soulmem.engine.deep.quiz import question_about, question_about_nobody


@pytest.mark.parametrize(
    ("quote", "speaker", "is_promise", "question"),
    [
        (
            "I hate walnuts.",
            "Al",
            False,
            "Do you still know what I said about the walnut?",
        ),
        (
            "I will mend the boat.",
            "Mira",
            True,
            "What did you promise me about the boat?",
        ),
        (
            "I will mend the boat.",
            "Odile",
            True,
            "What did Odile promise about the boat?",
        ),
        ("我对核桃过敏。", "Al", False, "你还记得我跟你说过的过敏吗？"),
        ("Ich hasse Nüsse.", "Al", False, None),
    ],
)
def test_a_question_that_a_quote_answers(
    quote: str, speaker: str, is_promise: bool, question: str | None
) -> None:
    asked = question_about(quote, speaker, is_promise=is_promise, soul="Mira", player="Al")
    assert asked == question


def test_braces_in_a_name_are_no_field() -> None:
    asked = question_about(
        "We sold the boat.", "{topic}", is_promise=False, soul="Mira", player="Al"
    )
    assert asked == "What was it that {topic} said about the boat?"


def test_nobody_who_is_known_is_asked_for_as_a_stranger() -> None:
    first = question_about_nobody("en", lambda name: False)
    second = question_about_nobody("en", lambda name: "Osgood" in name)
    assert first == "What did Osgood Tarrant give me for my birthday?"
    assert second == "What did Perpetua Vance give me for my birthday?"
    assert question_about_nobody("zh", lambda name: True) is None
