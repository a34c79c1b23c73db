"""What a text is made of: clauses with details in them, each with a gist."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.conversation.micro_units import DetailKind, unit_spans
from soulmem.language.gists import gist_language, topic_frame, type_words
from soulmem.language.word_lists import tables

TEXT = "Mia: I sailed to Lund with Tom on Friday, and he gave me a silver locket."


def gists(text: str, **names: str) -> dict[str, str]:
    """Gists by words."""
    return {text[unit.start : unit.end]: unit.gist for unit in unit_spans(text, names)}


def test_clauses_are_outside_and_details_inside() -> None:
    units = unit_spans(TEXT, {"Tom": "her brother", "Lund": ""}, "Lund", len("Mia: "))
    words = [(TEXT[u.start : u.end], u.gist, u.is_detail) for u in units]
    assert words == [
        ("I sailed to Lund with Tom on Friday", "sail", False),
        ("Lund", "a place", True),
        ("Tom", "her brother", True),
        ("Friday", "some day", True),
        ("and he gave me a silver locket", "silver locket", False),
    ]


def test_a_clause_is_told_by_words_of_its_own() -> None:
    assert gists("I will never betray you. She cooked some soup at the mill.") == {
        "I will never betray you": "betray",
        "She cooked some soup at the mill": "soup",
    }
    assert gists("她在家里煮了一锅面汤。这些都是红色的吗？") == {
        "她在家里煮了一锅面汤": "面汤",
        "这些都是红色的吗": "红色",
    }


def test_a_clause_about_nothing_has_no_gist() -> None:
    assert gists("And then it was so.") == {"And then it was so": ""}


def test_names_and_numbers_are_no_topic() -> None:
    """They go before what is told of them."""
    (clause, *_) = unit_spans(TEXT, {"Tom": "", "Lund": ""}, "Lund", len("Mia: "))
    assert clause.gist == "sail"
    (clause, *_) = unit_spans("Mia gave Tom a locket.", {"Tom": "", "Mia": None})
    assert clause.gist == "locket"


def test_what_reads_like_a_name_is_a_detail_where_names_are_written_with_capitals() -> None:
    units = unit_spans("We sailed to Gannet Point.", {}, new_names=["Gannet Point"])
    assert [unit.gist for unit in units] == ["sail", "some name"]
    units = unit_spans("他们吃了两块西瓜和一些小狗饼干。", {}, new_names=["西瓜", "小狗"])
    assert [unit.gist for unit in units] == ["西瓜", "某个数"]


def test_own_names_are_not_forgotten() -> None:
    units = unit_spans("We saw Tom and Mia there again.", {"Tom": "", "Mia": None})
    assert [unit.gist for unit in units if unit.is_detail] == ["somebody"]


def test_a_description_that_says_the_name_is_no_gist() -> None:
    assert gists("We saw Tom there again.", Tom="Tom is a cook")["Tom"] == "somebody"


def test_a_long_description_is_cut_at_a_clause() -> None:
    description = "the old cook of the inn, who has a scar and came from the north years ago"
    assert gists("We saw Tom there again.", Tom=description)["Tom"] == "the old cook of the inn"


def test_a_clause_that_is_a_detail_is_told_as_one() -> None:
    (unit,) = unit_spans("Friday.", {})
    assert (unit.gist, unit.is_detail) == ("some day", True)


@pytest.mark.parametrize("text", ['"a" ' * 5000, "a. " * 6000, "12. " * 60000, "“a” Tom " * 2500])
def test_a_runaway_text_is_cut_in_time(text: str) -> None:
    began = time.process_time()
    unit_spans(text, {"Tom": "", "a": None})
    assert time.process_time() - began < 3.0


def test_other_languages_have_clauses_without_gists() -> None:
    text = "Am 5. Mai ging Tom nach Hause, weil es regnete."
    units = unit_spans(text, {"Tom": ""})
    assert units
    assert all(not unit.gist and not unit.is_detail for unit in units)


def test_what_says_more_is_more_salient() -> None:
    rare, plain, vow = unit_spans(
        "The alchemist brewed mandrake elixirs. And then it was so. I swear it was so.",
        {},
    )
    assert rare.salience > vow.salience > plain.salience


@given(st.text(alphabet='Tom 57五月,."“”()，。さん在?*', max_size=80))
def test_units_are_parts_of_the_text_and_details_lie_in_clauses(text: str) -> None:
    units = unit_spans(text, {"Tom": "", "在": ""})
    clauses = [unit for unit in units if not unit.is_detail]
    for unit in units:
        assert 0 <= unit.start < unit.end <= len(text)
        assert 0.0 <= unit.salience <= 1.0
    for clause, after in pairwise(clauses):
        assert clause.end <= after.start
    assert unit_spans(text, {"Tom": "", "在": ""}) == units


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_every_language_has_every_type_word(language: str) -> None:
    words = type_words(language)
    assert words.keys() == type_words("en").keys() == {kind.value for kind in DetailKind}
    frame = topic_frame(words["time"])
    assert frame.count("{}") == 1
    assert frame == tables(language)["gists"]["topic"]
    if language != "en":
        assert {gist_language(gist) for gist in words.values()} <= {"zh", "ja"}
