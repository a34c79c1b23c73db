"""Digests quote what matters, what is new and what much is about, each thing once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.engine.digests.digest_texts import (
    DigestParams,
    Sentence,
    choose_sentences,
)

WORDS = {"storm": 0.9, "cellar": 0.9, "tea": 0.2, "kettle": 1.0, "moor": 1.0}

sentences = st.lists(
    st.builds(
        Sentence,
        st.text("ab ", min_size=1, max_size=4),
        st.floats(0, 1),
        st.frozensets(st.sampled_from(sorted(WORDS)), max_size=3),
    ),
    min_size=1,
    max_size=12,
)


def sentence(text: str, importance: float = 0.2) -> Sentence:
    """A sentence whose words are its tokens."""
    return Sentence(text, importance, frozenset(text.split()))


def chosen(*texts: Sentence, lines: int = 1, asked: str = "") -> list[int]:
    """What a digest of so many lines quotes."""
    wanted = frozenset(asked.split())
    return choose_sentences(texts, WORDS, DigestParams(lines=lines), wanted)


@given(sentences, st.integers(1, 6))
def test_it_quotes_few_in_their_order_and_nothing_twice(some: list[Sentence], most: int) -> None:
    quoted = choose_sentences(some, WORDS, DigestParams(lines=most))
    plain = [" ".join(some[index].text.split()).casefold() for index in quoted]

    assert quoted == sorted(set(quoted))
    assert 1 <= len(quoted) <= most
    assert len(set(plain)) == len(plain)


def test_what_was_felt_or_promised_comes_first() -> None:
    assert chosen(sentence("tea"), sentence("soup", 0.8), sentence("bread")) == [1]


def test_what_is_new_comes_before_what_is_always_said() -> None:
    assert chosen(sentence("more tea"), sentence("kettle on the moor")) == [1]


def test_what_more_than_one_sentence_is_about_comes_before_a_stray_one() -> None:
    stray = Sentence("a stray remark", 0.2, frozenset(["moor"]))
    shared = [
        Sentence("the storm broke in", 0.2, frozenset(["storm", "cellar"])),
        Sentence("the cellar was flooded", 0.2, frozenset(["cellar", "storm"])),
    ]
    assert chosen(stray, *shared) in ([1], [2])


def test_a_thing_is_told_once_however_often_it_was_said() -> None:
    twice = sentence("storm cellar kettle", 0.7), sentence("kettle cellar storm", 0.7)
    assert len(chosen(*twice, sentence("kettle on a moor", 0.9), lines=3)) == 2


def test_what_is_asked_for_comes_first() -> None:
    other = sentence("kettle on the moor", 0.4), sentence("tea", 0.4)
    assert chosen(*other) == [0]
    assert chosen(*other, asked="tea") == [1]


@pytest.mark.parametrize("characters", [20, 60])
def test_it_stays_within_its_length(characters: int) -> None:
    some = [sentence(f"kettle {letter * 12}", 0.5) for letter in "abcdef"]
    params = DigestParams(lines=6, characters=characters, same=2.0)
    texts = [some[index].text for index in choose_sentences(some, WORDS, params)]
    assert len("\n".join(texts)) <= characters


def test_one_sentence_is_told_however_long_it_is() -> None:
    assert choose_sentences([sentence("tea " * 900)], WORDS) == [0]
