"""Of whom can a line be saying something?"""

from __future__ import annotations

import pytest

from soulmem.prompts.evidence import Grounds
from tests.prompts.passages import EN, ZH, passage


@pytest.mark.parametrize(
    ("subject", "what", "can"),
    [
        ("Mia", "promised Bruno", True),  # she says "I promised Bruno"
        ("Alice", "promised Bruno", False),
        ("Agnes", "left the compass", True),
        ("Mia", "sang beautifully", True),  # she is told "You sang"
        ("Alice", "sang beautifully", False),
        ("Bruno", "hates thunder", True),  # named in the line before
        ("Agnes", "hates thunder", False),
        ("Mia", "looks away", True),  # a gesture of her own
        ("Alice", "looks away", False),
        ("Alice", "juggles oranges", True),  # in no words of the chat: nothing can be told
    ],
)
def test_english(subject: str, what: str, can: bool) -> None:
    assert Grounds(EN).can_be_said_of(subject, what) is can


@pytest.mark.parametrize(
    ("subject", "what", "can"),
    [
        ("林月", "教小雨骑马", True),
        ("阿明", "教小雨骑马", False),
        ("外婆", "留在阁楼的怀表", True),
        ("林月", "今天真好看", True),
        ("阿明", "今天真好看", False),
        ("小雨", "怕打雷", True),
    ],
)
def test_chinese(subject: str, what: str, can: bool) -> None:
    assert Grounds(ZH).can_be_said_of(subject, what) is can


def test_another_languages_pronouns_tell_nothing() -> None:
    russian = passage([("Мия", "Я обещала Бруно кормить кота."), ("Алиса", "Хорошо."), ("Мия", "Кот спит.")])
    assert Grounds(russian).can_be_said_of("Алиса", "обещала Бруно")


@pytest.mark.parametrize(
    ("cited", "action", "lines"),
    [
        ([6, 8, 12], "looks away", (6, 8, 12)),
        ([6], "looks away and makes light of it", (6, 8, 12)),  # two more lines say most of it
        ([6], "looks away, tugging her sleeve", (6, 12)),
        (range(1, 13), "looks away", (6, 8, 12)),
        ([6, 8], "denies that it matters", (6, 8)),
        (range(1, 13), "denies that it matters", ()),
        ([1, 3], "denies that it matters", ()),
        ([77], "denies that it matters", ()),
    ],
)
def test_where_a_habit_showed(cited: list[int], action: str, lines: tuple[int, ...]) -> None:
    assert Grounds(EN).shown(cited, action, "Mia") == lines


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "Alice left the compass in the cellar. Agnes left the compass in the cellar.",
            "Agnes left the compass in the cellar.",
        ),
        ("Alice promised Bruno I'd feed his cat.", ""),
        ("Mia promised Bruno I'd feed his cat.", None),
        ("Alice sang beautifully.", ""),
        ("Mia sang beautifully.", None),
        ("Alice told Mia that Agnes left the compass in the cellar.", None),
        ("Mia learned where the compass is.", None),
        ("You are very kind, Mia. Mia looks away.", "Alice: You are very kind, Mia. Mia looks away."),
        ("Yes, my older brother.", "Mia: Yes, my older brother."),
        ("*looks away* It was only leftovers.", "Mia: *looks away* It was only leftovers."),
        ("She met Zorro. Mia looks away.", "Mia looks away."),
        ("Mia looks away. Mia looks away.", "Mia looks away."),
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
    ],
)
def test_sentences_of_somebody_else_go_in_chinese(text: str, kept: str | None) -> None:
    assert Grounds(ZH).honest(text) == (text if kept is None else kept)
