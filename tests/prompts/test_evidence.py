"""Evidence lines of a draft contain all it says; unsupported names are detected."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.drafts import Lines, Passage
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.passage_words import alike, content_words
from tests.prompts.passages import EN, ZH, passage

WORDS = [
    f"{a}{b}".lower()
    for a in ("Bram", "Quil", "Dros", "Fenk")
    for b in ("ford", "wick", "holm", "tarn")
]


def lines_of(chat: Passage, cited: Sequence[int], text: str, *names: str) -> Lines:
    """The evidence of a text that cites these lines."""
    grounds = Grounds(chat)
    kept = grounds.cited(cited)
    return grounds.lines_of(kept, text, names) if kept else ()


@given(
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=6, unique=True),
    st.data(),
)
def test_what_later_lines_say_is_evidence_too(words: list[str], data: st.DataObject) -> None:
    """A branch that forked before them must not know it."""
    first = data.draw(st.integers(1, len(words)))
    said = data.draw(st.sets(st.integers(first, len(words)))) | {first}
    text = " ".join(words[number - 1] for number in sorted(said))
    chat = passage([("Nora", word) for word in words])
    assert set(lines_of(chat, [first], text)) == said


def test_a_citation_that_is_too_small_grows() -> None:
    text = "Hester buried the locket in the bakery; Anton hates thunder."
    assert {1, 10} <= set(lines_of(EN, [1], text))
    assert {1, 10} <= set(lines_of(EN, [10], text))


def test_what_was_known_before_needs_no_line() -> None:
    rows = [("Nora", "We met Anton."), ("Lena", "The lantern burns.")]
    text = "The lantern of Anton burns."
    before = passage(rows, known_names=("Anton",))
    assert lines_of(before, [2], text, "Anton") == (2,)
    assert lines_of(passage(rows), [2], text, "Anton") == (1, 2)


def test_without_a_line_nothing_is_known() -> None:
    assert lines_of(EN, [], "Somewhere a glacier melted quietly") == ()
    assert lines_of(EN, [77], "") == ()


def test_what_needs_half_the_chat_tells_no_one_thing() -> None:
    rows = [("Nora", f"{word} {word}berg") for word in WORDS]
    chat = passage(rows)
    assert lines_of(chat, [1], " ".join(WORDS[:8])) == tuple(range(1, 9))
    assert lines_of(chat, [1], " ".join(WORDS[:9])) == ()


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
        ("Zorro came.", ("Zorro",)),
        ("Nobody came. Later it rained.", ()),
    ],
)
def test_made_up_names(text: str, names: tuple[str, ...]) -> None:
    assert Grounds(EN).unknown_names(text) == names


def test_made_up_names_in_chinese() -> None:
    assert Grounds(ZH).unknown_names("林月和 Kael 去了磨坊") == ("Kael",)


def test_capitals_of_german_nouns_mark_no_names() -> None:
    german = "Der Hund schläft im Garten, und die Katze sitzt auf dem Dach neben der alten Linde."
    assert (
        Grounds(passage([("Lena", german)] * 2)).unknown_names("Nun schläft der Hund im Haus.")
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


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        ("old Anton", True),
        ("Lena's brother", True),
        ("Zorro's brother", False),
        ("the king", False),
    ],
)
def test_a_subject_is_known_by_all_its_words(name: str, is_known: bool) -> None:
    chat = passage([("Nora", "Old Anton the brother came."), ("Lena", "The end.")])
    assert Grounds(chat).knows(name) is is_known


def test_somebody_of_a_known_person_is_known_in_chinese() -> None:
    assert Grounds(ZH).knows("林月的母亲")
    assert not Grounds(ZH).knows("韩知府")


@pytest.mark.parametrize("form", ["promise", "promised", "promises", "promising"])
def test_forms_of_a_word_are_one(form: str) -> None:
    (word,) = content_words(form)
    (other,) = content_words("promise")
    assert alike(word.key, other.key)


def test_words_of_grammar_say_nothing() -> None:
    assert content_words("the and of 的了在是") == []
    assert content_words("der und mit", ("de",)) == []
