"""Evidence lines of a draft contain all it says; unsupported names are detected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.passage_words import units
from tests.prompts.passages import EN, ZH, passage

WORDS = [
    f"{a}{b}".lower()
    for a in ("Bram", "Quil", "Dros", "Fenk")
    for b in ("ford", "wick", "holm", "tarn")
]
SIGNS = "林沈砚月怀表阁楼磨坊骑马雷雨灰尘河边箱子"


@st.composite
def chats_with_citations(draw: st.DrawFn) -> tuple[list[str], set[int], str]:
    """Lines of words that stand in one line each, some of the lines, and a text made of words of these."""
    rows = draw(
        st.lists(
            st.lists(st.sampled_from(WORDS), min_size=2, max_size=3),
            min_size=2,
            max_size=5,
        )
    )
    seen: set[str] = set()
    lines = []
    for row in rows:
        lines.append([word for word in dict.fromkeys(row) if word not in seen])
        seen |= set(row)
    full = [number for number, line in enumerate(lines) if line]
    chosen = set(draw(st.lists(st.sampled_from(full), min_size=1, max_size=3)))
    return (
        [" ".join(line) for line in lines],
        chosen,
        " ".join(" ".join(lines[number]) for number in sorted(chosen)),
    )


@given(chats_with_citations(), st.lists(st.integers(-3, 40), max_size=4))
def test_the_lines_hold_every_word_that_is_said(
    stated: tuple[list[str], set[int], str], cited: list[int]
) -> None:
    rows, chosen, text = stated
    grounds = Grounds(passage([("Nora", row) for row in rows]))
    lines = grounds.lines_of(cited, text)
    assert set(lines) <= set(range(1, len(rows) + 1))
    assert not lines or set(lines) == {number + 1 for number in chosen}
    right = grounds.lines_of([number + 1 for number in chosen], text)
    assert set(right) == {number + 1 for number in chosen}


def test_a_wrong_citation_is_put_right() -> None:
    assert Grounds(EN).lines_of([3], "Hester buried the locket in the bakery.") == (1,)
    assert Grounds(ZH).lines_of([3], "外婆把怀表藏在阁楼的箱子里") == (1,)


def test_a_citation_that_is_too_small_grows() -> None:
    lines = Grounds(EN).lines_of(
        [1], "Hester buried the locket in the bakery; Anton hates thunder."
    )
    assert {1, 10} <= set(lines)


def test_what_was_known_before_needs_no_line() -> None:
    rows = [("Nora", "We met Anton."), ("Lena", "The lantern burns.")]
    before = passage(rows, known_names=("Anton",))
    assert Grounds(before).lines_of([2], "The lantern of Anton burns.", ["Anton"]) == (
        2,
    )
    assert Grounds(passage(rows)).lines_of(
        [2], "The lantern of Anton burns.", ["Anton"]
    ) == (1, 2)


def test_without_a_line_nothing_is_known() -> None:
    assert Grounds(EN).lines_of([], "Somewhere a glacier melted quietly") == ()
    assert Grounds(EN).lines_of([77], "") == ()


def test_what_needs_half_the_chat_tells_no_one_thing() -> None:
    rows = [("Nora", f"{word} {word}berg") for word in WORDS]
    assert Grounds(passage(rows)).lines_of([1], " ".join(WORDS[:8])) == tuple(
        range(1, 9)
    )
    assert Grounds(passage(rows)).lines_of([1], " ".join(WORDS[:9])) == ()


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Lena promised to feed the cat.", False),
        ("Το πλοίο φεύγει αύριο από το λιμάνι", True),
        ("米娅答应喂猫。", True),
        ("Мия обещала кормить кота", True),
        ("42!", False),
    ],
)
def test_scripts_of_an_english_chat(text: str, foreign: bool) -> None:
    assert Grounds(EN).is_foreign(text) is foreign


def test_scripts_of_other_chats() -> None:
    assert Grounds(ZH).is_foreign("Lin Yue promised to teach Xiaoyu")
    assert not Grounds(ZH).is_foreign("林月答应教小雨骑马")
    japanese = Grounds(
        passage([("ミア", "ヘスターはロケットをパン屋に埋めたよ。覚えておいてね。")])
    )
    assert not japanese.is_foreign("ヘスターはロケットをパン屋に埋めた。")
    assert japanese.is_foreign("赫丝特把挂坠盒埋在了面包房里，让大家记住这件事。")
    joint = Grounds(
        passage(
            [
                ("Lena", "Tomorrow we ride to the harbour at dawn."),
                ("阿明", "好，我们明天黎明去港口。"),
            ]
        )
    )
    assert not joint.is_foreign("明天去港口")
    assert not joint.is_foreign("Tomorrow to the harbour")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Later she met Zorro in Paris.", ("Zorro", "Paris")),
        ("Then Anton's cat and I slept.", ()),
        ("Zorro came.", ()),  # the first word of a sentence has a capital anyway
    ],
)
def test_made_up_names(text: str, names: tuple[str, ...]) -> None:
    assert Grounds(EN).unknown_names(text) == names


def test_made_up_names_in_chinese() -> None:
    assert Grounds(ZH).unknown_names("林月和 Kael 去了磨坊") == ("Kael",)


def test_capitals_of_german_nouns_mark_no_names() -> None:
    german = "Der Hund schläft im Garten, und die Katze sitzt auf dem Dach neben der alten Linde."
    assert (
        Grounds(passage([("Lena", german)] * 2)).unknown_names(
            "Nun schläft der Hund im Haus."
        )
        == ()
    )


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("lena", True),
        ("locket", True),
        ("lock", False),
        ("old mill", True),
        ("Zorro", False),
    ],
)
def test_names_stand_as_whole_words(name: str, holds: bool) -> None:
    assert Grounds(EN).holds(name) is holds


def test_names_stand_anywhere_in_chinese() -> None:
    assert Grounds(ZH).holds("怀表")
    assert not Grounds(ZH).holds("怀中")
    assert Grounds(passage([("阿明", "我们去Ravenhold吧")])).holds("Ravenhold")


def test_forms_of_a_word_are_one() -> None:
    assert (
        len(
            {
                *units("promise"),
                *units("promised"),
                *units("promises"),
                *units("promising"),
            }
        )
        == 1
    )
    assert units("the and of 的了在是") == []
