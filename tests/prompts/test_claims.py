"""Claims: whether a passage states a drafted fact, and about whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.drafts import Passage
from soulmem.prompts.grounding.claims import Claim, Claims, Truth
from tests.prompts.passages import EN, passage

TAVERN = passage(
    [
        (
            "Kira",
            "*Kira slides into the booth.* You're late. I already paid for the room upstairs.",
        ),
        (
            "Dan",
            "*I shake the water from my hat.* The ferryman, old Marlow, wanted double.",
        ),
        (
            "Kira",
            "Marlow robs everyone. *Her fingers trace the scar.* Did you bring the letter?",
        ),
        ("Dan", "Tobin writes that he opened a smithy in Harrowgate."),
        ("Kira", "He always hated iron. I never liked the cold."),
        ("Dan", "My horse can carry us both. I bought you this silver comb."),
        ("Kira", "I'm afraid of horses. *She turns the comb.* I will keep it forever."),
        ("Dan", "If Tobin loved gold, he would sell the anvil. Can Bess bake bread?"),
        ("Kira", '"Bess owes me a favour," she says and touches the lamp.'),
        ("Dan", "I doubt it, and maybe Tobin fears wolves. I don't trust the baron."),
    ],
    soul="Kira",
    users=("Dan",),
    names=("Marlow", "Tobin", "Harrowgate", "Bess"),
)
INN = passage(
    [
        ("白芷", "*白芷在你对面坐下。* 你来晚了，楼上的房间我已经付过钱了。"),
        ("子墨", "沈砚把灯笼挂在了阁楼上。周岚将地图藏在箱子里。"),
        ("白芷", "白苏信里说他在青石镇开了一家铁匠铺。你带来哥哥的信了吗？"),
        ("子墨", "他以前最讨厌打铁。我在集市上给你买了一把银梳子。"),
        ("白芷", "*她转动梳子* 我怕马，你知道的。"),
        ("子墨", "小雨是我表妹，她怕打雷。我答应过小雨要教她骑马。"),
        ("白芷", "阿秋还欠我一个人情。如果白苏喜欢金子，他会卖掉铁砧。"),
        ("子墨", "我从来没相信过男爵。外婆把怀表藏在了井里。"),
    ],
    soul="白芷",
    users=("子墨",),
    language="zh",
    names=("沈砚", "周岚", "白苏", "小雨", "阿秋"),
)


def is_said(chat: Passage, asked: tuple[str, str, str], line: int) -> bool:
    """Whether the chat says just that, in that line alone."""
    claim = Claims(chat).of(*asked)
    stated = claim.truth, claim.subject, claim.object, claim.lines
    return stated == (Truth.SAID, asked[0], asked[2], (line,))


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (("Kira", "paid for", "the room upstairs"), 1),
        (("Dan", "shakes", "the water"), 2),  # "I" in what he tells of himself
        (("Marlow", "wanted", "double"), 2),  # named behind the comma
        (("Tobin", "opened", "a smithy"), 4),  # "he", named before
        (("Tobin", "opened a smithy in", "Harrowgate"), 4),
        (("Dan", "bought", "silver comb"), 6),
        (("Kira", "is afraid of", "horses"), 7),
        (("Kira", "turns", "the comb"), 7),  # "she" in a gesture
        (("Bess", "owes a favour to", "Kira"), 9),  # "me"
    ],
)
def test_what_an_english_chat_says(asked: tuple[str, str, str], line: int) -> None:
    assert is_said(TAVERN, asked, line)


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (("沈砚", "把灯笼挂在", "阁楼"), 2),
        (("沈砚", "挂灯笼", "阁楼"), 2),  # the thing before the verb
        (("沈砚", "挂", "灯笼"), 2),
        (("周岚", "把地图藏在", "箱子"), 2),
        (("白苏", "在青石镇开了", "铁匠铺"), 3),
        (("白苏", "讨厌", "打铁"), 4),
        (("子墨", "买了", "银梳子"), 4),
        (("白芷", "怕", "马"), 5),
        (("白芷", "转动", "梳子"), 5),
        (("小雨", "怕", "打雷"), 6),
        (("子墨", "答应", "小雨"), 6),
        (("阿秋", "欠我一个人情", "白芷"), 7),
    ],
)
def test_what_a_chinese_chat_says(asked: tuple[str, str, str], line: int) -> None:
    assert is_said(INN, asked, line)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("Nora", "buried", "the locket"), ("Hester", "buried", "the locket")),
        (("Nora", "promised", "Anton"), ("Lena", "promised", "Anton")),
        (
            ("Hester", "buried the locket in the bakery", "the soup"),
            ("Hester", "buried the locket in", "bakery"),
        ),
    ],
)
def test_a_fact_is_of_whom_the_chat_tells_it(
    asked: tuple[str, str, str], sentence: tuple[str, str, str]
) -> None:
    claim = Claims(EN).of(*asked)
    assert (claim.truth, (claim.subject, claim.verb, claim.object)) == (
        Truth.MENDED,
        sentence,
    )


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("子墨", "把灯笼挂在了阁楼上", "白芷"), ("沈砚", "把灯笼挂在了", "阁楼")),
        (("子墨", "怕", "马"), ("白芷", "怕", "马")),
        (
            ("子墨", "藏", "怀表"),
            ("外婆", "藏", "怀表"),
        ),  # no known name, but who takes the thing
    ],
)
def test_a_chinese_fact_is_of_whom_the_chat_tells_it(
    asked: tuple[str, str, str], sentence: tuple[str, str, str]
) -> None:
    claim = Claims(INN).of(*asked)
    assert (claim.truth, (claim.subject, claim.verb, claim.object)) == (
        Truth.MENDED,
        sentence,
    )


def test_not_and_will_stay_with_the_verb() -> None:
    english, chinese = Claims(TAVERN), Claims(INN)
    assert english.of("Kira", "liked", "the cold").verb == "never liked"
    assert english.of("Dan", "trust", "the baron").verb == "don't trust"
    assert english.of("Kira", "keep", "the comb").verb == "will keep"
    assert chinese.of("子墨", "相信", "男爵").verb == "从来没相信"
    assert chinese.of("白苏", "讨厌", "打铁").verb == "最讨厌"


@pytest.mark.parametrize(
    "asked",
    [
        ("Kira", "hated", "iron"),  # she says it of "him"
        ("Dan", "hated", "iron"),  # and not to "you"
        ("Dan", "walks", "then"),
        ("Tobin", "writes", "the letter from my brother"),
        ("Marlow", "robs", "everyone"),  # nobody
        ("Dan", "can carry", "us both"),
        ("Bess", "bake", "bread"),  # a question
        ("Kira", "paid for", "the smithy"),
        ("Kira", "she turns", "the comb"),
        ("Dan", "doubt", "wolves"),  # of another clause
        ("Dan", "wanted double because", "the storm"),
    ],
)
def test_what_the_chat_says_otherwise_is_denied(asked: tuple[str, str, str]) -> None:
    assert Claims(TAVERN).of(*asked).truth is Truth.DENIED


@pytest.mark.parametrize(
    "asked",
    [
        ("子墨", "讨厌", "打铁"),
        ("白芷", "带来", "哥哥的信"),
        ("白芷", "付过钱了", "昨天"),
        ("沈砚", "挂", "我怕马，你知道的"),
        ("白芷", "转动", "白芷"),
    ],
)
def test_what_a_chinese_chat_says_otherwise_is_denied(
    asked: tuple[str, str, str],
) -> None:
    assert Claims(INN).of(*asked).truth is Truth.DENIED


@pytest.mark.parametrize(
    ("chat", "asked"),
    [
        (TAVERN, ("Tobin", "lives in", "Harrowgate")),  # in no words of the chat
        (TAVERN, ("Tobin", "loved", "gold")),  # "if"
        (TAVERN, ("Tobin", "fears", "wolves")),  # "maybe"
        (INN, ("白苏", "住在", "青石镇")),
        (INN, ("白苏", "喜欢", "金子")),
        (INN, ("子墨", "教", "骑马")),  # who is "she"?
        (INN, ("子墨", "她转动", "梳子")),
    ],
)
def test_what_cannot_be_told_is_left_to_trust(
    chat: Passage, asked: tuple[str, str, str]
) -> None:
    assert Claims(chat).of(*asked).truth is Truth.REWORDED


SOME = "Kira Dan Tobin he she I you the comb horses hated iron never my in of a , ' 白苏 打铁 怕 马 他 把 了"


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        (["雷が嫌い。レナは猫を飼う。", "そうですか。"], ("レナ", "飼う", "猫")),
        (
            ["Ich hasse es, weil Anton Donner liebt.", "Gestern sah ich ihn."],
            ("Anton", "liebt", "Donner"),
        ),
        (
            ["Yo no quiero que Bruno tema el trueno.", "Claro que no."],
            ("Bruno", "tema", "trueno"),
        ),
    ],
    ids=["ja", "de", "es"],
)
def test_other_languages_order_their_words_otherwise(
    lines: list[str], asked: tuple[str, str, str]
) -> None:
    chat = passage(
        [(who, text) for who, text in zip(("Lena", "Nora"), lines, strict=True)]
    )
    assert Claims(chat).of(*asked).truth is Truth.REWORDED


@pytest.mark.parametrize(
    "opening", ["Suddenly Anton", "Poor Anton", "Yesterday Anton", "Today, Anton"]
)
def test_a_sentence_may_open_with_other_words(opening: str) -> None:
    chat = passage(
        [
            ("Lena", f"{opening} sold the boat to me. What will you do with it?"),
            ("Nora", "I am sad."),
        ]
    )
    assert Claims(chat).of("Anton", "sold", "the boat").truth is Truth.SAID
    assert Claims(chat).of("Nora", "sold", "the boat").subject != "Lena"


WORDS = st.lists(st.sampled_from(SOME.split()), max_size=5)


@given(WORDS, WORDS, WORDS)
def test_no_fact_is_more_than_its_words(
    subject: list[str], verb: list[str], thing: list[str]
) -> None:
    for chat in (TAVERN, INN):
        claim = Claims(chat).of(*(" ".join(part) for part in (subject, verb, thing)))
        assert isinstance(claim, Claim)
        if claim.truth in (Truth.SAID, Truth.MENDED):
            assert claim.lines
            assert set(claim.lines) <= set(range(1, len(chat.lines) + 1))
            assert claim.subject
            assert claim.verb
            assert claim.object
            assert claim.subject.casefold() != claim.object.casefold()


@pytest.mark.parametrize(
    ("verb", "parts"),
    [
        ("会给苏晴送一篮鸡蛋", ("会给苏晴送", "一篮鸡蛋")),
        ("把小船卖给了磨坊主", ("把小船卖给了", "磨坊主")),
        ("以前最讨厌打铁", ("以前最讨厌", "打铁")),
    ],
)
def test_a_chinese_verb_may_hold_its_object(verb: str, parts: tuple[str, str]) -> None:
    chat = passage(
        [("白芷", f"苏晴{verb}。"), ("子墨", "我知道。")],
        soul="白芷",
        users=("子墨",),
        language="zh",
    )
    claim = Claims(chat).of("苏晴", verb, "")
    assert (claim.truth, claim.verb, claim.object) == (Truth.SAID, *parts)


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        (
            [
                "Ann lives in Oakham.",
                "Ann lives in Veltri.",
                "Is it far?",
                "So Ann lives in Oakham.",
            ],
            ("Ann", "lives in", "Oakham"),
        ),
        (
            ["小雨住在青石镇。", "小雨住在白河镇。", "远吗？", "小雨住在青石镇。"],
            ("小雨", "住在", "青石镇"),
        ),
    ],
)
def test_what_is_said_again_is_told_by_every_line_that_says_it(
    lines: list[str], asked: tuple[str, str, str]
) -> None:
    """Who moves away and back lives where they lived first."""
    chat = passage(
        [("Tom", line) for line in lines], names=("Ann", "Oakham", "Veltri", "小雨")
    )
    claim = Claims(chat).of(*asked)
    assert (claim.truth, claim.lines) == (Truth.SAID, (1, 4))


def test_of_very_many_lines_that_say_it_the_first_and_the_last_count() -> None:
    """More than a few would look as if they told no one thing."""
    chat = passage([("Tom", "Ann lives in Oakham.")] * 20, names=("Ann", "Oakham"))
    assert Claims(chat).of("Ann", "lives in", "Oakham").lines == (1, 18, 19, 20)
