"""Names in languages without lists of names: by capitals where these mark names, never an ordinary word."""

from __future__ import annotations

import pytest

from soulmem.language.described_names import prose_names
from soulmem.language.grammars import LISTED, grammar_of, languages_of
from soulmem.language.names import names
from soulmem.language.spaced_words import words
from soulmem.language.vocabularies import vocabulary


@pytest.mark.timeout(60)  # each language's dictionary is read once
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Torben schob das alte Boot in den Regen hinaus.", {"Torben"}),
        ("Gestern hat Frau Lindner einen Brief aus Rostock bekommen.", {"Frau Lindner", "Rostock"}),
        ("Der Zauberstab lag unter dem Mondsteinregal.", set()),
        ("Das ist schön, sagte Henrike, aber die Zeit ist um.", {"Henrike"}),
        ("Sie stellt den Becher hin. Vorsicht, heiß.", set()),
        ("Solène le regardait sans comprendre.", {"Solène"}),
        ("Lentement, elle ouvrit la porte d'Édouard.", {"Édouard"}),
        ("Hier soir, Madame Perrin est partie avec nous.", {"Madame Perrin"}),
        ("Oui, Madame, je viens.", set()),
        *(
            pytest.param(*one, marks=pytest.mark.nightly)  # a dictionary of each language takes 120 MB
            for one in (
                ("Вчера Агафья вернулась с Прохором.", {"Агафья", "Прохором"}),
                ("Обещаю никому не говорить об этом.", set()),
                ("Cuéntame qué pasó anoche en Toledo.", {"Toledo"}),
                ("Ayer María y yo fuimos a la playa.", {"María"}),
                ("Prometo que não conto a ninguém.", set()),
                ("Ontem, Duarte sentou-se à mesa com Leonor.", {"Duarte", "Leonor"}),
                ("Stasera cucina Ettore, disse la Signora Bellini.", {"Ettore", "Signora Bellini"}),
            )
        ),
    ],
)  # fmt: skip
def test_names(text: str, expected: set[str]) -> None:
    assert set(names(text)) == expected


def test_an_accent_makes_no_difference_at_the_start_of_an_english_sentence() -> None:
    assert names("Élodie smiles at the old man.") == ("Élodie",)


def test_a_language_without_lists_has_names_only_within_sentences() -> None:
    text = "Eilen kissa nukkui pitkään sohvalla, kunnes Aino herätti sen."
    assert names(text) == ("Aino",)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("The old man and the sea", ("en",)),
        ("Der alte Mann und das Meer", ("de",)),
        ("Le vieil homme et la mer", ("fr",)),
        ("Старик и море, и больше ничего", ("ru",)),
        ("Kaelith Ravenhold", ()),
        ("", ()),
    ],
)
def test_the_guess_of_a_language(text: str, codes: tuple[str, ...]) -> None:
    assert languages_of(words(text)) == codes


@pytest.mark.parametrize("language", LISTED)
def test_the_lists_of_each_language(language: str) -> None:
    grammar = grammar_of(language)
    assert len(grammar.function_words) > 80
    assert grammar.addresses
    assert grammar.determiners <= grammar.function_words
    assert bool(grammar.determiners) is grammar.nouns_have_capitals


def test_no_dictionary_no_guess_about_the_start_of_a_sentence() -> None:
    assert vocabulary("xx") is None


@pytest.mark.timeout(60)
def test_a_german_description_names_no_nouns() -> None:
    text = "Sie wohnt mit ihrem Hund am Wald, und Torben bringt ihr jeden Morgen Brot."
    assert list(prose_names(text)) == ["Torben"]
