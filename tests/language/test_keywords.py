"""Are the concepts of a text those a reader would name, whatever its script and mark-up?"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language import japanese
from soulmem.language.keywords import MOST, STRONG, Term, prepare, terms
from tests.language.marked_lines import MARKED
from tests.language.scored import f1

LANGUAGES = sorted({language for language, _, _ in MARKED})


def strong(text: str) -> list[str]:
    """Keys that the text is about."""
    return [term.key for term in terms(text) if term.salience >= STRONG]


@pytest.fixture(params=["sudachi where installed", "by script"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the optional dictionary of Japanese and without."""
    if request.param == "by script":
        monkeypatch.setattr(japanese, "_sudachi", lambda: None)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("language", LANGUAGES)
def test_marked_lines(language: str) -> None:
    scores = [f1(strong(line), marked) for lang, line, marked in MARKED if lang == language]
    assert min(scores) > 0.0  # at least one right in every line
    assert sum(scores) / len(scores) >= 0.75


def test_base_forms_are_one_concept() -> None:
    for told in ("They run.", "She ran to the river.", "Running wears shoes out."):
        assert "run" in [term.key for term in terms(told)]
    assert {"wolf", "child"} <= {term.key for term in terms("The wolves spared both children.")}


def test_names_have_no_base_form() -> None:
    keys = strong("I gave it to Banks, then Wolves and Mars argued with Lady Rivers.")
    assert {"banks", "lady rivers"} <= set(keys)
    assert "bank" not in keys


def test_a_name_weighs_most() -> None:
    found = terms("Yesterday the rain spoiled the picnic that Odette planned.")
    assert found[0].key == "odette"
    assert [t.salience for t in found] == sorted((t.salience for t in found), reverse=True)


def test_what_is_repeated_weighs_more() -> None:
    once = {t.key: t.salience for t in terms("A lantern hung there.")}
    twice = {t.key: t.salience for t in terms("A lantern hung there. A lantern!")}
    assert twice["lantern"] > once["lantern"]


@pytest.mark.parametrize(
    "text",
    [
        "((OOC: the dentist called))",
        "(OOC: my dentist) *waits*",
        "[OOC dentist]",
        "（OOC：牙医 dentist）",
        "OOC: dentist at five",
        "<!-- dentist -->",
        "```\ndentist: 5\n```",
        '<img src="dentist.png">',
        "see https://dentist.example/dentist",
        "{{dentist}}",
    ],
)
def test_talk_about_the_game_and_mark_up_tell_nothing(text: str) -> None:
    keys = [term.key for term in terms(f"{text} \n The kettle sings.")]
    assert "kettle" in keys
    assert not any("dentist" in key or "牙医" in key for key in keys)


@pytest.mark.parametrize(
    "text",
    [
        "*the kettle*",
        "**The kettle**",
        "_kettle_",
        '"Kettle?"',
        "<i>the kettle</i>",
        "[kettle](x)",
        "kettle&nbsp;",
    ],
)
def test_mark_up_hides_no_word(text: str) -> None:
    assert [term.key for term in terms(text)] == ["kettle"]


def test_an_action_and_what_is_said_are_apart() -> None:
    assert not any(" " in term.key for term in terms("*takes the silver* locket dealers wait"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Me siento al lado de la ventana con un libro.", {"ventana", "libro"}),
        ("Er legt die Laterne auf den Tisch und geht.", {"laterne", "tisch"}),
        ("Elle pose la lanterne sur une chaise.", {"lanterne", "chaise"}),
    ],
)
def test_function_words_of_other_languages_tell_nothing(text: str, expected: set[str]) -> None:
    keys = {term.key for term in terms(text)}
    assert expected <= keys
    assert keys.isdisjoint(
        [
            "me",
            "al",
            "de",
            "la",
            "con",
            "un",
            "er",
            "die",
            "auf",
            "den",
            "und",
            "sur",
            "une",
        ]
    )


def test_a_capital_at_the_start_of_a_sentence_makes_no_name_with_what_follows() -> None:
    for text, word in (("Der Wind ist wieder da.", "wind"), ("La Torre cayó anoche.", "torre")):
        keys = {term.key for term in terms(text)}
        assert word in keys
        assert not [key for key in keys if " " in key]


def test_nothing_to_tell() -> None:
    assert terms("") == ()
    assert terms("Oh, I see. Really? Hmm...") == ()
    assert terms("嗯，好吧。") == ()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_text_has_few_well_formed_terms(text: str) -> None:
    found = terms(text)
    assert len(found) <= MOST
    assert len({term.key for term in found}) == len(found)
    assert all(isinstance(term, Term) and term.key == term.key.strip() for term in found)
    assert found == terms(text)


@given(st.sampled_from(MARKED), st.sampled_from(MARKED))
def test_what_stands_beside_does_not_change_a_line(
    one: tuple[str, str, object], other: tuple[str, str, object]
) -> None:
    both = {term.key for term in terms(f"{one[1]}\n{other[1]}")}
    alone = [term.key for term in terms(one[1])][:4]
    assert len(both) == MOST or both.issuperset(alone)


@pytest.mark.alone
def test_a_turn_takes_well_under_three_milliseconds() -> None:
    prepare()
    turn = " ".join(line for _, line, _ in MARKED[:4])
    best = float("inf")
    for number in range(20):
        before = time.perf_counter()
        terms(f"{turn} {number}")
        best = min(best, time.perf_counter() - before)
    assert best < 0.003
