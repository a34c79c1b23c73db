"""Is what was read ahead what would be read now, and is it forgotten?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.conversation import text_analysis as reading
from soulmem.conversation.text_analysis import Readings, read

TEXTS = st.lists(
    st.sampled_from(
        ["", "Kaelith loves rain.", "沈砚在青石镇。", "We met in Vienna.", "*nods*"]
    )
)


@given(TEXTS, TEXTS)
def test_reading_ahead_changes_nothing(ahead: list[str], asked: list[str]) -> None:
    readings = Readings()
    readings.ahead(ahead)
    assert [readings.of(text) for text in asked] == [read(text) for text in asked]


def test_each_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def watched(text: str) -> reading.Reading:
        seen.append(text)
        return read(text)

    monkeypatch.setattr(reading, "read", watched)
    readings = Readings()
    readings.ahead(["a rainy day", "a rainy day"])
    readings.of("a rainy day")
    assert seen == ["a rainy day"]
    readings.forget()
    readings.of("a rainy day")
    assert seen == ["a rainy day"] * 2


def test_a_text_tells_where_what_and_how_it_felt() -> None:
    told = read("I cried in Vienna when the violin broke.")
    assert "violin" in [term.key for term in told.terms]
    assert told.names == ("Vienna",)
    assert told.location == "Vienna"
    assert [one.label for one in told.felt_by_speaker(())] == ["sadness"]


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
    told = read(text)
    assert [one.label for one in told.felt_by_speaker(["Anton"])] == speaker
    assert [one.label for one in told.felt_by("Anton")] == anton


def test_names_of_signs_need_no_space() -> None:
    told = read("林月很害怕。林月，我很高兴！")
    assert [one.label for one in told.felt_by("林月")] == ["fear"]
    assert [one.label for one in told.felt_by_speaker(["林月"])] == ["joy"]
