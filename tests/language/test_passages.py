"""A text is cut into passages of one to a few sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.language.passages import PASSAGE, grouped, length_of, passages

ENGLISH = "The rain had not stopped since noon, and nobody came. " * 12
CHINESE = "雨从中午下到现在一直没有停，街上一个人也没有来。" * 12


def cut(text: str) -> list[str]:
    """The passages of a text."""
    return [text[start:end] for start, end in passages(text)]


@given(st.text(alphabet="ab .!?\n,，。“”*你灯1", max_size=1500))
def test_passages_are_all_of_the_text_and_each_says_something(text: str) -> None:
    parts = cut(text)
    assert "".join(parts) == text
    if len(parts) > 1:
        assert all(any(map(str.isalnum, part)) for part in parts)
    words = [part for part in parts if any(map(str.isalnum, part))]
    for part in words:
        # A passage may take marks without a word, and half a sentence more than its share.
        said = "".join(c for c in part if c.isalnum() or c == " ")
        assert length_of(said.strip()) <= 2 * PASSAGE


@pytest.mark.parametrize(("text", "count"), [(ENGLISH, 3), (CHINESE, 3)])
def test_a_passage_is_some_whole_sentences(text: str, count: int) -> None:
    parts = cut(text)
    assert len(parts) == count
    assert all(part.strip()[-1] in ".。" for part in parts)
    lengths = [length_of(part) for part in parts]
    assert max(lengths) < 1.5 * min(lengths)


def test_a_short_text_is_one_passage() -> None:
    assert cut("One. Two. Three.") == ["One. Two. Three."]
    assert cut("") == [""]


def test_a_sentence_that_is_too_long_is_cut_at_its_commas() -> None:
    long = ", ".join(["we walked on along the river for a long while"] * 20) + "."
    parts = cut(long)
    assert len(parts) > 2
    assert all(part.endswith((", ", ".")) for part in parts)


def test_neighbours_are_grouped_up_to_the_room() -> None:
    assert grouped([3, 3, 3, 9, 1], 6) == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert grouped([], 6) == [(0, 0)]
