"""The sets within a set are those that a look at each of them finds."""

from __future__ import annotations

from random import Random

import pytest

from soulmem.consolidation.tellings import SetTrie

WORDS = "abcdefghij"


def some(rng: Random, words: str = WORDS) -> set[str]:
    """A few of the words, or none."""
    return set(rng.sample(words, rng.randint(0, min(6, len(words)))))


@pytest.mark.parametrize("seed", range(20))
def test_it_finds_the_sets_within_a_set_that_have_all_that_is_needed(seed: int) -> None:
    rng = Random(seed)
    order = rng.sample(WORDS, len(WORDS))
    trie, sets = SetTrie(order), [some(rng) for _ in range(60)]
    for number, words in enumerate(sets):
        trie.add(words, number)

    found = 0
    for _ in range(60):
        asked, needed = (
            some(rng, WORDS + "xyz"),
            some(rng, "".join(rng.sample(WORDS, 2))),
        )
        expected = [n for n, words in enumerate(sets) if needed <= words <= asked]
        assert sorted(trie.within(asked, needed)) == expected
        found += len(expected)
    assert found


def test_a_word_without_a_place_in_the_order_is_no_part_of_a_set() -> None:
    with pytest.raises(KeyError):
        SetTrie("ab").add("ac", 1)
