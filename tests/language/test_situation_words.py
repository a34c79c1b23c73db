"""Are places and feelings read from plain words, and only where they are meant?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.feelings import feelings, pleasantness
from soulmem.language.places import place_of
from soulmem.language.word_lists import tables


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("We spent a week in Vienna.", "Vienna"),
        ("They rode to Castle Blackmoor at dawn.", "Castle Blackmoor"),
        ("He looks at Odette.", None),
        ("She gave it to Odette.", None),
        ("It was in December, in English.", None),
        ("She trusts in Odette's word.", None),
        ("我们在青石镇的酒馆里认识的。", "青石镇"),
        ("他走进图书馆，坐了下来。", "图书馆"),
        ("我在想你的事。", None),
        ("在那座城堡里没有人。", "城堡"),
        ("(OOC: I am in Vienna)", None),
    ],
)
def test_places(text: str, place: str | None) -> None:
    assert place_of(text) == place


@pytest.mark.parametrize(
    ("text", "felt"),
    [
        ("I am so happy today!", {"joy"}),
        ("I am not happy about it.", set()),
        ("She isn't really afraid.", set()),
        ("Never be afraid again, I love you.", {"love"}),
        ("他很生气，也很伤心。", {"anger", "sadness"}),
        ("我不生气。", set()),
        ("别害怕。", set()),
        ("没有生气，只是惊讶。", {"surprise"}),
        ("这只猫真可爱，恐怕要下雨。", set()),
        ("Her hands trembled; the smell disgusted her.", {"fear", "disgust"}),
        ("(OOC: I hate mondays)", set()),
        ("The lamp is green.", set()),
    ],
)
def test_feelings(text: str, felt: set[str]) -> None:
    assert {label for label, _ in feelings(text)} == felt


@pytest.mark.parametrize(
    ("label", "sign"),
    [("joy", 1), ("爱意", 1), ("Grief", -1), ("惧", -1), ("surprise", 0), ("blue", 0)],
)
def test_a_feeling_is_pleasant_or_unpleasant_by_its_name(label: str, sign: int) -> None:
    assert pleasantness(label) == sign


def test_every_feeling_but_surprise_is_pleasant_or_unpleasant() -> None:
    neither = [name for name in tables("feelings")["names"] if not pleasantness(name)]
    assert neither == ["surprise"]


def test_more_words_of_one_feeling_make_it_stronger() -> None:
    assert (
        feelings("glad")[0][1]
        < feelings("glad and happy")[0][1]
        < feelings("so glad, so happy, such joy")[0][1]
    )


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    assert all(0.0 < intensity <= 1.0 for _, intensity in feelings(text))
    assert place_of(text) is None or place_of(text)
