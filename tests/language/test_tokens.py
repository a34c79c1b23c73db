"""Tokens: invented names are found in any sentence, names keep their form, and common words stay out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.tokens import Tokeniser
from soulmem.retrieval.lexical import LexicalIndex

# Rare signs: a name made of three of them stands in no dictionary.
SIGNS = "芙蕖璎珞霁岚澈昙螭鸢麟珀榫槿烛砚笙箬篁翎蘅虬衾裳谧赭酩钿阙霭韶飒髻鲸黛黧龛汀沅泠浔涿渌湄溟漪澹瀛灏煜熠燧"
SYLLABLES = ["ba", "ko", "lu", "mi", "re", "sho", "tan", "vey", "xi", "zor"]
ZH_TOLD = [
    "下雨之前我们去「{}」走走吧。",
    "我妹妹给{}写过一封信",
    "她微笑着哼起{}的歌。",
    "{}打牌总是耍赖，他笑着说。",
]
EN_TOLD = [
    "Let us walk to {} before the rain.",
    "{} always cheated at cards.",
    "*hums the song of {}*",
    "I'd left {}'s ring.",
]
ZH_ASKED, EN_ASKED = "「{}」怎么样了？", "what about {}?"

zh_names = st.permutations(SIGNS).map(lambda signs: "".join(signs[:3]))
en_names = st.lists(st.sampled_from(SYLLABLES), min_size=3, max_size=4).map(
    lambda s: "".join(s).title()
)


@given(st.lists(zh_names, min_size=6, max_size=6, unique=True))
def test_an_invented_chinese_name_finds_its_memory(names: list[str]) -> None:
    assert_each_found(names, ZH_TOLD, ZH_ASKED)


@given(st.lists(en_names, min_size=6, max_size=6, unique=True))
def test_an_invented_english_name_finds_its_memory(names: list[str]) -> None:
    assert_each_found(names, EN_TOLD, EN_ASKED)


def assert_each_found(names: list[str], told: list[str], asked: str) -> None:
    """Asked for each name, its own sentence scores above every other."""
    tokeniser, index = Tokeniser(), LexicalIndex()
    for row, name in enumerate(names):
        index.put(row, tokeniser.tokens(told[row % len(told)].format(name)))
    for row, name in enumerate(names):
        scores = index.scores(tokeniser.tokens(asked.format(name)), len(names))
        assert scores.argmax() == row
        assert scores[row] > 0


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("She was carrying lanterns", "lantern"),
        ("Lanterns everywhere", "lantern"),
        ("the fiancée’s letter", "fiancée"),
        ("O'Brien's dog", "obrien"),
        ("at 3:40", "40"),
        ("ＦＵＬＬ width", "full"),
        ("彼女はブラックムーアで泣いた", "ムー"),
        ("彼女はブラックムーアで泣いた", "泣"),
        ("그는 바다로 갔다", "바다"),
        ("他把黑沼要塞的门关上了", "要塞"),
    ],
)
def test_token_is_there(text: str, token: str) -> None:
    assert token in Tokeniser().tokens(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "…！？ *—*",
        "What is it that you have done to them?",
        "他们的",
        "don't we'll can't",
    ],
)
def test_what_says_nothing_gives_no_token(text: str) -> None:
    assert Tokeniser().tokens(text) == ()


def test_a_name_keeps_its_form_wherever_it_stands() -> None:
    named = Tokeniser(["Rose Wells", "爱丽丝"])
    for text in ("Wells came.", "and then wells came", "I saw Wells's hat"):
        assert "wells" in named.tokens(text)
        assert "well" not in named.tokens(text)
    assert Tokeniser().tokens("three dry wells")[-1] == "well"


@given(st.text())
def test_any_text_gives_clean_tokens(text: str) -> None:
    tokens = Tokeniser(["Rose"]).tokens(text)
    assert all(token == token.strip() and token for token in tokens)
    assert tokens == Tokeniser(["Rose"]).tokens(text)


def test_what_is_in_every_other_line_is_no_reason() -> None:
    cue, text = (
        "Going to get the other lantern?",
        "She got another lantern under way, and went to Long.",
    )
    assert Tokeniser().shared(cue, text) == ["lantern"]
    assert Tokeniser().shared("How long, Long?", text) == []
    assert Tokeniser(["Long"]).shared("Where is Long?", text) == ["Long"]


def test_shared_words_read_as_the_cue_writes_them() -> None:
    tokeniser = Tokeniser(["Rose"])
    assert tokeniser.shared("Remember the Presses at Rose's?", "rose stood by the press") == [
        "Presses",
        "Rose's",
    ]
    assert tokeniser.shared("她又捏了捏黄鸭头的伞", "接过来，指尖在鸭头的嘴上一捏") == ["鸭头"]
    assert tokeniser.shared("他们的", "她们的") == []
