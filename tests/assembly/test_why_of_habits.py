"""Reasons of habits: they name the situation, the intent or the owner."""

from __future__ import annotations

import pytest

from soulmem.assembly.why import Cause, Reason, reason_sentence


@pytest.mark.parametrize(
    ("cause", "english", "chinese"),
    [
        (
            Cause.SITUATION,
            '"a {stranger} stares" is what is happening, and Mira tends to react like this.',
            "眼下正是「a {stranger} stares」，Mira往往会这样反应。",
        ),
        (
            Cause.INTENT,
            'Mira wants to "a {stranger} stares", and tends to do it like this.',
            "Mira想要「a {stranger} stares」，往往就会这样做。",
        ),
        (
            Cause.HABIT,
            '"a {stranger} stares" came up, and Mira knows this habit of their own.',
            "提到了「a {stranger} stares」，Mira知道自己有这个习惯。",
        ),
    ],
)
def test_what_led_to_a_habit_is_named(cause: Cause, english: str, chinese: str) -> None:
    """Braces and blanks in it do no harm; what comes after the first step is not told."""
    reason = Reason(cause, path=("a {stranger}  stares", "being watched"))
    assert reason_sentence(reason, "Mira", "en") == english
    assert reason_sentence(reason, "Mira", "zh") == chinese
