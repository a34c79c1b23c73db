"""Query parts and token weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.retrieval.query import (
    MAX_LENGTH,
    parts_of_messages,
    parts_of_text,
    token_weights,
)

TEXTS = st.lists(st.text(max_size=20), max_size=8)


@given(TEXTS)
def test_message_shares_sum_to_one_and_grow_towards_the_newest(
    texts: list[str],
) -> None:
    parts = parts_of_messages(texts)
    words = [text.strip() for text in texts if text.strip()]
    shares = [share for _, share in parts]
    assert [text for text, _ in parts] == words[-3:]
    assert sum(shares) == pytest.approx(1.0 if words else 0.0)
    assert shares == sorted(shares)


@given(st.text(max_size=60))
def test_a_text_is_embedded_once_or_not_at_all(text: str) -> None:
    parts = parts_of_text(text)
    assert len(parts) == bool(text.strip())
    assert all(share == 1.0 for _, share in parts)


def test_of_a_long_dialogue_the_end_is_kept() -> None:
    lines = [
        f"line {i}: " + "so much was said on that evening by the harbour " * 2 for i in range(40)
    ]
    [(kept, _)] = parts_of_text("\n".join(lines))
    assert kept.endswith(lines[-1].strip())
    assert kept.startswith("line ")
    assert len(kept) / 4 <= MAX_LENGTH


def test_one_line_longer_than_the_limit_is_kept_whole() -> None:
    line = "雨" * 2000
    assert parts_of_text(line) == [(line, 1.0)]


def test_chinese_reaches_the_limit_in_fewer_characters() -> None:
    [(chinese, _)] = parts_of_text("\n".join(["我们昨天在河边看见了那盏灯笼"] * 100))
    [(english, _)] = parts_of_text("\n".join(["we saw that lantern down by the river"] * 100))
    assert 2 * len(chinese) < len(english)


def test_words_of_later_lines_and_later_messages_weigh_more() -> None:
    weight = token_weights([("ash\nelm", 1.0)], str.split)
    assert weight["elm"] > weight["ash"] > 0
    weight = token_weights(parts_of_messages(["ash", "elm"]), str.split)
    assert weight["elm"] > weight["ash"] > 0


def test_repeating_a_word_adds_less_each_time() -> None:
    once, four = (
        token_weights([("ash", 1.0)], str.split)["ash"],
        token_weights([("ash ash ash ash", 1.0)], str.split)["ash"],
    )
    assert four == pytest.approx(2 * once)


def test_nothing_said_asks_for_nothing() -> None:
    assert parts_of_messages([" ", ""]) == []
    assert parts_of_text(" \n ") == []
    assert token_weights([], str.split) == {}
