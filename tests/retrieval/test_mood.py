"""Moods: feelings of both languages, weighted by recency, and the fit of memories."""

from __future__ import annotations

import pytest

from soulmem.language.feelings import feeling_of
from soulmem.retrieval.mood import (
    MoodParams,
    chat_mood,
    irritation,
    mood_fit,
    stated_mood,
)


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("joy", "快乐"),
        ("sadness", "悲伤"),
        ("anger", "愤怒"),
        ("fear", "恐惧"),
        ("disgust", "厌恶"),
        ("surprise", "惊讶"),
        ("love", "爱"),
        ("Happy", " 高兴 "),
        ("schadenfreude", "Schadenfreude"),
    ],
)
def test_a_feeling_is_the_same_in_both_languages(label: str, other: str) -> None:
    assert feeling_of(label) == feeling_of(other)
    assert mood_fit(stated_mood(label, 1.0), [(other, 1.0)]) == 1.0


def test_different_feelings_do_not_match() -> None:
    names = (
        "joy",
        "sadness",
        "anger",
        "fear",
        "disgust",
        "surprise",
        "love",
        "irritation",
        "longing",
    )
    assert len({feeling_of(name) for name in names}) == len(names)
    assert mood_fit(stated_mood("joy", 1.0), [("sadness", 1.0)]) == 0.0


def test_the_fit_is_the_strongest_echo() -> None:
    mood = {"joy": 0.5, "fear": 1.0}
    assert mood_fit(mood, [("joy", 1.0), ("害怕", 0.8), ("fear", 0.2)]) == pytest.approx(0.8)
    assert mood_fit(mood, []) == 0.0
    assert mood_fit({}, [("joy", 1.0)]) == 0.0


def test_an_intensity_out_of_range_is_brought_into_it() -> None:
    assert stated_mood("joy", 7.0) == {"joy": 1.0}
    assert mood_fit(stated_mood("joy", 1.0), [("joy", 9.0)]) == 1.0


def test_the_newest_message_makes_the_mood_most() -> None:
    mood = chat_mood([[("fear", 1.0)], [("joy", 1.0)]])
    assert mood["joy"] > mood["fear"] > 0
    assert sum(mood.values()) == pytest.approx(1.0)


def test_messages_without_feelings_calm() -> None:
    stirred, calm = chat_mood([[("joy", 0.8)]]), chat_mood([[("joy", 0.8)], [], []])
    assert stirred["joy"] == pytest.approx(0.8)
    assert calm["joy"] < 0.5 * stirred["joy"]
    assert chat_mood([]) == {} == chat_mood([[], []])


def test_only_the_last_messages_count() -> None:
    old = [[("fear", 1.0)]] + [[("joy", 0.1)]] * 2
    assert "fear" not in chat_mood(old, MoodParams(messages=2))
    assert "fear" in chat_mood(old, MoodParams(messages=3))


def test_irritation_goes_by_its_names_and_anger_is_one() -> None:
    assert irritation(stated_mood("不耐烦", 0.6)) == 0.6
    assert irritation(stated_mood("impatient", 0.6)) == 0.6
    assert irritation(stated_mood("愤怒", 0.9)) == 0.9
    assert irritation({"irritation": 0.2, "anger": 0.5}) == 0.5
    assert irritation(stated_mood("sadness", 1.0)) == 0.0
