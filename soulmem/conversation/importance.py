"""How much a message matters, without a language model."""

from __future__ import annotations

from soulmem.language.importance_cues import (
    feeling_words,
    has_first_meeting,
    has_plea_to_remember,
    has_vow_or_date,
)


def importance_of(text: str, emotion: float | None = None) -> float:
    """0..1: .2, up to .4 for feelings, .15 each for a first meeting and for a vow, date or number, .3 for a
    plea to remember (design 2).

    emotion  0..1, the strongest feeling where the message has one by name; None: counted by its words
    """
    if emotion is None:
        emotion = 1.0 - 0.5 ** feeling_words(text)
    score = 0.2 + 0.4 * emotion
    if has_first_meeting(text):
        score += 0.15
    if has_vow_or_date(text):
        score += 0.15
    if has_plea_to_remember(text):
        score += 0.3
    return round(min(score, 1.0), 4)
