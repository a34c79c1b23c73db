"""Keys of a run of Chinese: words of a dictionary, and runs of signs that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from soulmem.language.function_words import CHINESE, CHINESE_SIGNS
from soulmem.language.word_lists import signs, word_set

NAME, COMPOUND, NOUN, UNKNOWN, WORD, PASSING, PIECE = (
    0.9,
    0.85,
    0.8,
    0.7,
    0.6,
    0.45,
    0.3,
)
_NAMES = frozenset(("nr", "ns", "nt", "nz", "nrt", "nrfg"))
_SAYS_NOTHING = frozenset(
    "cdefhkmopqruxy"
)  # first letters of tags: conjunctions, adverbs, pronouns, numbers, ..
_LONGEST_UNKNOWN = 4  # signs
_LONGEST_COMPOUND = 5  # signs
_WITH_PRONOUN = word_set("zh", "names", "with_pronoun")
# A verb that ends so tells of a movement in passing.
_COMPLEMENTS = frozenset(signs("zh", "names", "complements"))
# Family names of one sign, without those that are everyday words.
SURNAMES = frozenset(signs("zh", "names", "surnames"))


@cache
def dictionary() -> Any:
    """The segmenter; the first call reads its dictionary, some 0.14 s."""
    return import_module("rjieba").Jieba()


def prepare() -> None:
    """Read the dictionary; later is slower only for the first text."""
    dictionary().tag("准备")


def ranked(run: str) -> Iterator[tuple[str, float]]:
    """Keys with what they are worth, in order of appearance; a repeated key comes again.

    The dictionary alone decides what a word is: guesses at unknown ones differ with what stands beside them,
    and then two texts would not share them.
    """
    loose = ""  # signs that stand alone so far
    noun = ""  # the noun before, from which a compound may grow
    for word, tag in dictionary().tag(run, hmm=False):
        is_noun = tag.startswith("n")
        if len(word) == 1 and word not in CHINESE_SIGNS:
            if noun and is_noun:
                yield noun + word, COMPOUND
            loose, noun = loose + word, ""
            continue
        yield from _unknown(loose)
        if _is_topic(word):
            yield from _of_word(word, _worth(word, tag), loose)
            if is_noun and noun and len(noun) + len(word) <= _LONGEST_COMPOUND:
                yield noun + word, COMPOUND
            noun = word if is_noun else ""
        else:
            noun = ""
        loose = ""
    yield from _unknown(loose)


def _is_topic(word: str) -> bool:
    is_common = word in CHINESE or not _WITH_PRONOUN.isdisjoint(word)
    return len(word) > 1 and not is_common


def _of_word(word: str, worth: float, loose: str) -> Iterator[tuple[str, float]]:
    """A word, also with a single sign that stands alone before it."""
    if worth:
        yield word, worth
        if len(loose) == 1 and len(word) < _LONGEST_UNKNOWN:
            yield loose + word, WORD


def _unknown(run: str) -> Iterator[tuple[str, float]]:
    if len(run) < 2:
        return
    if len(run) <= _LONGEST_UNKNOWN:
        yield run, UNKNOWN
    if len(run) > 2:
        for index in range(len(run) - 1):
            yield run[index : index + 2], PIECE


def _worth(word: str, tag: str) -> float:
    if tag in _NAMES:
        return NAME
    kind = tag[:1]
    if kind == "n" or tag == "vn":
        return NOUN
    if kind == "v" and word[-1] in _COMPLEMENTS:
        return PASSING
    return 0.0 if kind in _SAYS_NOTHING else WORD
