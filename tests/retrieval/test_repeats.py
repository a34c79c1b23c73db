"""Sentences that the prompt contains: equal, nearly equal, inside a longer text, or in part."""

from __future__ import annotations

import time

import pytest

from soulmem.retrieval.repeats import ContextText, is_sentence, units_of

KEY = "Alice hid the brass key in the hollow oak behind the chapel."
KEY_ZH = "爱丽丝把铜钥匙悄悄地藏在教堂后面的空心橡树里。"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (KEY, KEY),
        (KEY, "ALICE hid -- the brass key, in the hollow oak; behind the chapel!"),
        (KEY, "Alice hid the silver key in the hollow oak behind the chapel."),
        (KEY, "Alice hid the key in the hollow oak behind the chapel."),
        (KEY, "Alice hid the old brass key in the hollow oak behind the chapel."),
        (KEY, "Bob hid the brass key in the hollow oak behind the chapel"),
        (KEY, "Alice hid the brass key in the hollow oak behind the mill, and left."),
        (f"Mira: *nods twice, slowly* {KEY}", f"She nods. {KEY}"),
        (KEY, f"About her home. {KEY} She never speaks of it."),
        (f'Mira: *"{KEY}"*', KEY),
        (f"Mira: {KEY}", f"*smiles* {KEY}"),
        (f"Brass key: {KEY}", KEY),
        ("Mira: Fine.", "That is fine with me."),
        (KEY_ZH, KEY_ZH),
        (KEY_ZH, "她说：爱丽丝把铜钥匙偷偷地藏在教堂后面的空心橡树里！谁也不知道。"),
        (f"米拉：“{KEY_ZH}”", KEY_ZH),
        (
            "Ｄｏｎ’ｔ tell anybody what I said to you yesterday",
            "don't tell anybody what I said to you yesterday",
        ),
    ],
)
def test_what_stands_there_is_not_told(text: str, there: str) -> None:
    assert ContextText(["A card says nothing.", there, ""]).rest_of(text, ["Mira", "米拉"]) is None


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (KEY, "Alice hid the silver key in the hollow oak behind the mill."),
        (
            KEY,
            "Alice hid the brass key. In the hollow oak behind nothing stands a chapel.",
        ),
        (
            "On that night we saw Ada down by the mill.",
            "On that night we saw Bo down by the mill.",
        ),
        (
            "It took us 12 days to come home by sea.",
            "It took us 13 days to come home by sea.",
        ),
        (
            "那天晚上我们在河边遇见了卡米拉的船。",
            "那天晚上我们在河边遇见了托里亚的船。",
        ),
        (
            "我答应过「白芷兰」我们一定会回来的。",
            "我答应过「白芷青」我们一定会回来的。",
        ),
        (
            'We sailed "the old heron" home from the island at dawn.',
            'We sailed "the new heron" home from the island at dawn.',
        ),
        (
            "The key is in the oak.",
            "The key is in the well.",
        ),  # of a short sentence each word is the point
        ("Mira: Fine.", "That is finest."),
        ("Mira's age: 34", "There were 34 sheep."),
        (KEY_ZH, "爱丽丝把银戒指埋在教堂后面的空心橡树里。"),
        ("", "Nothing."),
        ("...", "Nothing..."),
    ],
)
def test_what_does_not_stand_there_is_told_as_it_is(text: str, there: str) -> None:
    assert ContextText([there]).rest_of(text, ["Mira"]) == text


def test_two_texts_are_not_one() -> None:
    half, other = KEY.split(" in ")
    assert ContextText([half, f"in {other}"]).rest_of(KEY) == KEY


def test_a_sentence_that_stands_there_is_left_out_of_a_text_that_says_more() -> None:
    footer = "[Harbour of Varn, the ninth of October, light rain, late evening]"
    text = f"Mira: {KEY}\nShe swore that nobody but the miller saw her. {footer}"
    standing = ContextText([f"We were there. {footer}"])
    rest = standing.rest_of(text, ["Mira"])
    assert rest is not None
    assert KEY in rest
    assert "miller" in rest
    assert standing.rest_of(f"Mira: Yes. {footer}", ["Mira"]) is None, "a word or two are no memory"
    standing.add(KEY)
    assert (
        standing.rest_of(text, ["Mira"])
        == f"Mira: She swore that nobody but the miller saw her. {footer}"[
            : len("Mira: She swore that nobody but the miller saw her.")
        ]
    )
    zh = f"米拉：{KEY_ZH}除了磨坊主以外没有人看见过她那天晚上出门。"
    assert (
        ContextText([KEY_ZH]).rest_of(zh, ["米拉"])
        == "米拉：除了磨坊主以外没有人看见过她那天晚上出门。"
    )


def test_a_sentence_is_eight_words_or_twelve_signs() -> None:
    assert not is_sentence(units_of("One two three four five six seven."))
    assert is_sentence(units_of("One two three four five six seven eight."))
    assert not is_sentence(units_of("一二三四五六七八九十一"))
    assert is_sentence(units_of("一二三四五六七八九十一二"))


@pytest.mark.parametrize(
    "piece",
    ["a ", "*", "* ", ". ", ".\n", '."', "a:", "：", "好", "。", "![.", "don't "],
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    began = time.process_time()
    ContextText([text]).rest_of(
        text[:20_000] + " and then some other words of another text stood here.", ["a"]
    )
    assert time.process_time() - began < 5
