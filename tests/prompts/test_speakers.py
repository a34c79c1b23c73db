"""Whom a line can be about."""

from __future__ import annotations

import pytest

from soulmem.prompts.grounding.evidence import Grounds
from tests.prompts.passages import EN, ZH, passage


@pytest.mark.parametrize(
    ("subject", "what", "can"),
    [
        ("Lena", "promised Anton", True),  # she says "I promised Anton"
        ("Nora", "promised Anton", False),
        ("Hester", "buried the locket", True),
        ("Lena", "sang beautifully", True),  # she is told "You sang"
        ("Nora", "sang beautifully", False),
        ("Anton", "hates thunder", True),  # named in the line before
        ("Hester", "hates thunder", False),
        ("Lena", "looks away", True),  # a gesture of her own
        ("Nora", "looks away", False),
        (
            "Nora",
            "juggles oranges",
            True,
        ),  # in no words of the chat: nothing can be told
    ],
)
def test_english(subject: str, what: str, can: bool) -> None:
    assert Grounds(EN).can_be_said_of(subject, what) is can


@pytest.mark.parametrize(
    ("subject", "what", "can"),
    [
        ("林月", "教小雨骑马", True),
        ("阿明", "教小雨骑马", False),
        ("外婆", "藏在阁楼的怀表", True),
        ("林月", "今天真好看", True),
        ("阿明", "今天真好看", False),
        ("小雨", "怕打雷", True),
    ],
)
def test_chinese(subject: str, what: str, can: bool) -> None:
    assert Grounds(ZH).can_be_said_of(subject, what) is can


def test_another_languages_pronouns_tell_nothing() -> None:
    russian = passage(
        [
            ("Мия", "Я обещала Бруно кормить кота."),
            ("Алиса", "Хорошо."),
            ("Мия", "Кот спит."),
        ]
    )
    assert Grounds(russian).can_be_said_of("Алиса", "обещала Бруно")


@pytest.mark.parametrize(
    ("cited", "action", "lines"),
    [
        ([6, 8, 12], "looks away", (6, 8, 12)),
        (
            [6],
            "looks away and makes light of it",
            (6, 8, 12),
        ),  # two more lines say most of it
        ([6], "looks away, tugging her sleeve", (6, 12)),
        (range(1, 13), "looks away", (6, 8, 12)),
        ([6, 8], "denies that it matters", (6, 8)),
        (range(1, 13), "denies that it matters", ()),
        ([1, 3], "denies that it matters", ()),
        ([77], "denies that it matters", ()),
    ],
)
def test_where_a_habit_showed(
    cited: list[int], action: str, lines: tuple[int, ...]
) -> None:
    assert Grounds(EN).shown(cited, action, "Lena") == lines


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "Nora buried the locket in the bakery. Hester buried the locket in the bakery.",
            "Hester buried the locket in the bakery.",
        ),
        ("Nora promised Anton I'd feed his cat.", ""),
        ("Lena promised Anton I'd feed his cat.", None),
        ("Nora sang beautifully.", ""),
        ("Lena sang beautifully.", None),
        ("Nora told Lena that Hester buried the locket in the bakery.", None),
        ("Lena learned where the locket is.", None),
        (
            "You are very kind, Lena. Lena looks away.",
            "Nora: You are very kind, Lena. Lena looks away.",
        ),
        ("Yes, my older brother.", "Lena: Yes, my older brother."),
        (
            "*looks away* It was only leftovers.",
            "Lena: *looks away* It was only leftovers.",
        ),
        ("She met Zorro. Lena looks away.", "Lena looks away."),
        ("Lena looks away. Lena looks away.", "Lena looks away."),
        ("Lena looks away. Lena looks away. Lena loo…", "Lena looks away."),
        ("Lena looks away. Lena loo", "Lena looks away."),
        ("Lena looks away. Lena sang beautifully", None),
        ("Lena looks away...", None),
    ],
)
def test_sentences_of_somebody_else_go(text: str, kept: str | None) -> None:
    assert Grounds(EN).honest(text) == (text if kept is None else kept)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("阿明今天真好看。小雨怕打雷。", "小雨怕打雷。"),
        ("林月今天真好看。", None),
        ("小雨是你妹妹吗？", "阿明: 小雨是你妹妹吗？"),
        ("林月答应过小雨要教她骑马。", None),
        ("阿明答应过小雨要教她骑马。", ""),
        ("小雨怕打雷。小雨怕打雷。小雨怕…", "小雨怕打雷。"),
    ],
)
def test_sentences_of_somebody_else_go_in_chinese(text: str, kept: str | None) -> None:
    assert Grounds(ZH).honest(text) == (text if kept is None else kept)
