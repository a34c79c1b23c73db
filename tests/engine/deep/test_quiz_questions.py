"""Does a question leave out what is rarest, everywhere, and nothing else?"""

from __future__ import annotations

import pytest

from soulmem.engine.deep.quiz import GAP, QuizQuestion, quiz_question
from soulmem.language.keywords import terms


def asked(text: str, **counts: int) -> QuizQuestion | None:
    """The question about a text whose words are in 50 memories but for these."""
    return quiz_question(text, [term.key for term in terms(text)], lambda key: counts.get(key, 50))


def test_the_rarest_word_is_left_out() -> None:
    question = asked("Jonas rents the boathouse behind the brewery.", brewery=2)
    assert question == QuizQuestion(f"Jonas rents the boathouse behind the {GAP}.", "brewery")


def test_a_word_is_left_out_wherever_it_stands_with_its_ending() -> None:
    text = "Shutters creak, green shutters and a crooked chimney, said Helene."
    question = asked(text, shutter=1)
    assert question is not None
    assert "shutter" not in question.question.casefold()
    assert question.question.startswith(f"{GAP} creak, green {GAP} and")
    assert question.answer == "Shutters … chimney"


def test_a_longer_word_that_begins_alike_stays() -> None:
    text = "The carpenter lost a car near the bridge in winter rain."
    question = asked(text, car=1)
    assert question is not None
    assert "carpenter" in question.question
    assert " a car " not in question.question


def test_chinese_words_are_left_out() -> None:
    question = asked("我们在灯塔下面埋了一个铁盒子，里面有玛丽的信。", 灯塔=1)
    assert question is not None
    assert "灯塔" in question.answer
    assert "灯塔" not in question.question


def test_of_a_long_text_the_sentence_that_says_most_is_asked() -> None:
    text = "Hm. Radek owes the dentist forty crowns since the harvest feast. Yes."
    question = asked(text, dentist=1)
    assert question is not None
    assert question.question.startswith("Radek owes")
    assert question.question.endswith(".")


@pytest.mark.parametrize("text", ["", "Yes.", "Good night.", "x" * 5000])
def test_what_says_too_little_is_no_question(text: str) -> None:
    assert asked(text) is None
