"""Words by which lines speak of who says them and to whom, and deny something."""

from __future__ import annotations

import pytest

from soulmem.language.grammars import LISTED
from soulmem.language.speech import language_of, languages_said, speech_of
from soulmem.language.word_lists import tables


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I will go home with you when it rains.", "en"),
        ("Ich gehe mit dir nach Hause, wenn es regnet.", "de"),
        ("我和你一起回家。", "zh"),
        ("私は家に帰ります。", "ja"),
        ("나는 집에 간다", ""),
        ("Xyz qwrt", ""),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("one", "other", "is_apart"),
    [
        ("¿Dónde está la llave del sótano?", "The key is in the cellar.", True),
        ("Где лежит ключ от погреба?", "The key is in the cellar.", True),
        ("钥匙在哪里？", "The key is in the cellar.", True),
        ("鍵はどこにあるの？", "钥匙在地窖里。", True),
        ("Where is it?", "The key is in the cellar.", False),
        # Both may be Danish, Norwegian or Swedish; the last shows no language.
        ("Det er en god dag.", "Jeg er ikke her i dag.", False),
        ("Xyz qwrt", "The key is in the cellar.", False),
    ],
)
def test_languages_are_apart_where_a_text_can_be_in_none_of_the_others(
    one: str, other: str, is_apart: bool
) -> None:
    said, theirs = languages_said(one), languages_said(other)
    assert (bool(said and theirs) and said.isdisjoint(theirs)) == is_apart


@pytest.mark.parametrize("kind", ["first", "second", "denial"])
def test_each_listed_language_has_its_words(kind: str) -> None:
    assert set(tables("speech")[kind]) == {*LISTED, "en", "zh", "ja"}


@pytest.mark.parametrize(
    ("language", "text", "speaker", "listener"),
    [
        ("en", "I'm late.", True, False),
        ("en", "You're late.", False, True),
        ("en", "Ian is late.", False, False),
        ("fr", "J'ai froid.", True, False),
        ("fr", "Tu t'en vas ?", False, True),
        ("de", "Mein Hund schläft.", True, False),
        ("zh", "我来了，你呢？", True, True),
        ("ru", "Он ушёл.", False, False),
    ],
)
def test_of_whom_a_line_speaks(language: str, text: str, speaker: bool, listener: bool) -> None:
    speech = speech_of(language)
    assert speech.tells_of_speaker(text) is speaker
    assert speech.tells_of_listener(text) is listener


@pytest.mark.parametrize(
    ("language", "text", "denied", "stated"),
    [
        ("en", "He doesn't smoke, but he drinks.", "smoke", "drinks"),
        ("en", "She knows nothing of ships.", "knows", "she"),
        ("de", "Ich verstehe nichts von Sägen.", "verstehe", "ich"),
        ("fr", "Je n'ai jamais menti, crois-moi.", "menti", "crois"),
        ("zh", "他没还，我知道。", "还", "知道"),
    ],
)
def test_what_a_line_denies(language: str, text: str, denied: str, stated: str) -> None:
    words = speech_of(language).denied(text)
    assert denied in words
    assert stated not in words


def test_nothing_is_told_of_a_language_without_lists() -> None:
    speech = speech_of("fi")
    assert not speech.is_known
    assert not speech.denied("En tiedä.")
