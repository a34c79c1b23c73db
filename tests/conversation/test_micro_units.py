"""What a text is made of: clauses with details in them, each with a gist."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.conversation.micro_units import unit_spans
from soulmem.language.gists import gist_language, gists_of
from soulmem.language.word_lists import tables

TEXT = "Mia: I walked to Lund with Tom on Friday, and he gave me a silver locket."


def gists(text: str, **names: str) -> dict[str, str]:
    """Gists by words."""
    return {text[unit.start : unit.end]: unit.gist for unit in unit_spans(text, names)}


def test_clauses_are_outside_and_details_inside() -> None:
    units = unit_spans(TEXT, {"Tom": "her brother", "Lund": ""}, "Lund", len("Mia: "))
    words = [(TEXT[u.start : u.end], u.gist, u.is_detail) for u in units]
    assert words == [
        ("I walked to Lund with Tom on Friday", "a walk", False),
        ("Lund", "a place", True),
        ("Tom", "her brother", True),
        ("Friday", "some day", True),
        ("and he gave me a silver locket", "a gift", False),
    ]


def test_a_gist_says_what_kind_of_thing_happened_where_words_do() -> None:
    assert gists(
        "Where did you sleep? I will never betray you. It was red and cold."
    ) == {
        "Where did you sleep": "some sleep",
        "I will never betray you": "a secret",
        "It was red and cold": "something that happened",
    }
    assert gists("她在家里煮了一锅汤。这些都是红色的吗？") == {
        "她在家里煮了一锅汤": "吃喝的事",
        "这些都是红色的吗": "问了些什么",
    }
    assert gists("彼と港で会った。") == {"彼と港で会った": "会ったこと"}


def test_where_something_stands_in_quotation_marks_the_rest_is_told() -> None:
    text = 'Mia: Her coat was red and wet. "It is so cold in there."'
    told_unit, spoken_unit = unit_spans(text, {}, start=len("Mia: "))
    assert told_unit.gist == "something that happened"
    assert spoken_unit.gist == "something said"


def test_what_reads_like_a_name_is_a_detail_where_names_are_written_with_capitals() -> (
    None
):
    units = unit_spans("We sailed past Gannet Point.", {}, new_names=["Gannet Point"])
    assert [unit.gist for unit in units] == ["a journey", "some name"]
    units = unit_spans(
        "他们吃了两块西瓜和一些小狗饼干。", {}, new_names=["西瓜", "小狗"]
    )
    assert [unit.gist for unit in units] == ["吃喝的事", "某个数"]


def test_own_names_are_not_forgotten() -> None:
    units = unit_spans("We saw Tom and Mia there again.", {"Tom": "", "Mia": None})
    assert [unit.gist for unit in units if unit.is_detail] == ["somebody"]


def test_a_description_that_says_the_name_is_no_gist() -> None:
    assert gists("We saw Tom there again.", Tom="Tom is a cook")["Tom"] == "somebody"


def test_a_long_description_is_cut_at_a_clause() -> None:
    description = (
        "the old cook of the inn, who has a scar and came from the north years ago"
    )
    assert (
        gists("We saw Tom there again.", Tom=description)["Tom"]
        == "the old cook of the inn"
    )


def test_a_clause_that_is_a_detail_is_told_as_one() -> None:
    (unit,) = unit_spans("Friday.", {})
    assert (unit.gist, unit.is_detail) == ("some day", True)


@pytest.mark.parametrize(
    "text", ['"a" ' * 5000, "a. " * 6000, "12. " * 60000, "“a” Tom " * 2500]
)
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
    english = {
        key for key, gist in tables("en")["gists"].items() if isinstance(gist, str)
    }
    words = gists_of(language).words
    assert words.keys() == english
    assert len(gists_of(language).kinds) >= 20
    if language != "en":
        assert {gist_language(gist) for gist in words.values()} <= {"zh", "ja"}
