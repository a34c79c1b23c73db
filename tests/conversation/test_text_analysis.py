"""Texts analysed before a change: the same result as at once, made once, dropped afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.conversation import text_analysis
from soulmem.conversation.text_analysis import TextAnalyses, read

TEXTS = st.lists(
    st.sampled_from(["", "Kaelith loves rain.", "沈砚在青石镇。", "We met in Vienna.", "*nods*"])
)


@given(TEXTS, TEXTS)
def test_reading_ahead_changes_nothing(ahead: list[str], asked: list[str]) -> None:
    readings = TextAnalyses()
    readings.ahead(ahead)
    assert [readings.of(text) for text in asked] == [read(text) for text in asked]


def test_each_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def watched(text: str) -> text_analysis.TextAnalysis:
        seen.append(text)
        return read(text)

    monkeypatch.setattr(text_analysis, "read", watched)
    readings = TextAnalyses()
    readings.ahead(["a rainy day", "a rainy day"])
    readings.of("a rainy day")
    assert seen == ["a rainy day"]
    readings.forget()
    readings.of("a rainy day")
    assert seen == ["a rainy day"] * 2


def test_a_text_tells_where_what_and_how_it_felt() -> None:
    analysis = read("I cried in Vienna when the violin broke.")
    assert "violin" in [term.key for term in analysis.terms]
    assert analysis.names == ("Vienna",)
    assert analysis.location == "Vienna"
    assert [emotion.label for emotion in analysis.felt_by_speaker(())] == ["sadness"]


@pytest.mark.parametrize(
    ("text", "speaker", "anton"),
    [
        ("I am furious. Anton weeps at the window.", ["anger"], ["sadness"]),
        ("Anton, I am furious!", ["anger"], []),
        ("*Anton was terrified.* I laughed with joy.", ["joy"], ["fear"]),
        ("Antonia was terrified.", ["fear"], []),
        ("The key is in the well.", [], []),
    ],
)
def test_a_feeling_is_of_whom_its_sentence_begins_with(
    text: str, speaker: list[str], anton: list[str]
) -> None:
    analysis = read(text)
    assert [emotion.label for emotion in analysis.felt_by_speaker(["Anton"])] == speaker
    assert [emotion.label for emotion in analysis.felt_by("Anton")] == anton


def test_names_of_signs_need_no_space() -> None:
    analysis = read("林月很害怕。林月，我很高兴！")
    assert [emotion.label for emotion in analysis.felt_by("林月")] == ["fear"]
    assert [emotion.label for emotion in analysis.felt_by_speaker(["林月"])] == ["joy"]
