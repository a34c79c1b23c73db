"""Where a line of talk says that two names are one."""

from __future__ import annotations

import pytest

from soulmem.language.stated_aliases import may_state_aliases, stated_aliases

KNOWN = frozenset(
    (
        "Tom",
        "Liz",
        "Elizabeth",
        "Kat",
        "Max",
        "陈大伟",
        "老王",
        "阿烈",
        "小玛",
        "林小雨",
    )
)

STATED = [
    ("My brother Tom, called Tommy, went to Paris.", ("Tom", "Tommy")),
    ("Elizabeth goes by Liz at school.", ("Elizabeth", "Liz")),
    ("Liz is short for Elizabeth.", ("Elizabeth", "Liz")),
    ("Elizabeth, or Liz for short, is here.", ("Elizabeth", "Liz")),
    ("Maximilian's nickname is Max.", ("Maximilian", "Max")),
    ("My sister Katharina (everyone calls her Kat) is ill.", ("Katharina", "Kat")),
    ("Yesterday Tom was also known as Bobby.", ("Tom", "Bobby")),
    ("Tom is known as Old Tom.", ("Tom", "Old Tom")),
    ("Tom, also known as Big Red Fox, laughed.", ("Tom", "Big Red Fox")),
    ("We met Old Tom, also known as Max.", ("Old Tom", "Max")),
    ("Max is known as Old Tom Hardy of Vell.", ("Max", "Old Tom Hardy")),
    ("Captain Old Tom Hardy is known as Max.", ("Captain Old Tom Hardy", "Max")),
    ("Surely Tom is known as Red.", ("Tom", "Red")),
    ("They say Tom is known as Red Monday.", ("Tom", "Red")),
    ("我的弟弟陈大伟小名叫伟伟。", ("陈大伟", "伟伟")),
    ("王建国外号老王。", ("王建国", "老王")),
    ("林小雨（小名雨雨）是我妹妹。", ("林小雨", "雨雨")),
    ("陈大伟，大家都叫他大伟。", ("陈大伟", "大伟")),
    ("玛丽亚的昵称是小玛。", ("玛丽亚", "小玛")),
    ("小玛的真名是玛丽亚。", ("玛丽亚", "小玛")),
    ("阿烈又叫烈哥，住在城东。", ("阿烈", "烈哥")),
]
UNSAID = [
    "Tom called Tommy yesterday.",
    "Tom, called Tommy and told him.",
    "He goes by Liz now.",
    "I called Tom a fool.",
    "Tom's name is on the list.",
    "Robert, called Bob, is nobody that was heard of.",
    "我妹妹的小名叫糖糖。",
    "陈大伟又叫我去吃饭了。",
    "陈大伟也叫来了。",
]


@pytest.mark.parametrize(("text", "pair"), STATED)
def test_two_names_are_one_where_the_text_says_so(text: str, pair: tuple[str, str]) -> None:
    assert may_state_aliases(text)
    assert stated_aliases(text, KNOWN.__contains__) == [pair]


@pytest.mark.parametrize("text", UNSAID)
def test_a_call_a_pronoun_or_an_unknown_name_joins_nothing(text: str) -> None:
    assert stated_aliases(text, KNOWN.__contains__) == []


def test_nothing_is_one_with_itself() -> None:
    assert stated_aliases("Tom, called Tom, came.", KNOWN.__contains__) == []
