"""What a text claims of what it is about: denials, numbers, conditions, questions and persons without a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from soulmem.language.markup import plain
from soulmem.language.scripts import UNSPACED
from soulmem.language.word_lists import alternatives, signs, word_set, words

_FILE = "statements"
_WORD = re.compile(rf"(?:(?![{UNSPACED}_\d])\w)+(?:['\u2019](?:(?![{UNSPACED}_])\w)+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUESTION = re.compile("[?\u061f\u037e]")  # after NFKC
_DENIALS = word_set(_FILE, "denial", "words")
_DENYING_ENDINGS = words(_FILE, "denial", "endings")
_DENYING_SIGNS = frozenset(signs(_FILE, "denial", "signs"))
_OPEN = word_set(_FILE, "open", "words")
_OPEN_ENDINGS = words(_FILE, "open", "endings")
_OPEN_RUNS = re.compile(alternatives(words(_FILE, "open", "runs")))
_EXACT = word_set(_FILE, "numbers", "words") | word_set(_FILE, "persons", "words")
_EXACT_SIGNS = frozenset(
    signs(_FILE, "numbers", "signs") + signs(_FILE, "persons", "signs")
)


def statement_marks(text: str) -> frozenset[str]:
    """What two texts must have in common, beside their topics, to claim the same.

    Numbers, pronouns of third persons, words of condition and plan, how often it
    denies, and whether it asks. Equal sets do not prove that two texts claim the same;
    different ones show that they may not.
    """
    folded = unicodedata.normalize("NFKC", plain(text)).casefold()
    spaced = _WORD.findall(folded)
    marks = {*_NUMBER.findall(folded), *_OPEN_RUNS.findall(folded)}
    marks.update(word for word in spaced if word in _EXACT or _is_open(word))
    marks.update(sign for sign in folded if sign in _EXACT_SIGNS)
    denials = sum(1 for _ in _denials(folded, spaced))
    if denials:
        marks.add(f"not {denials}")
    if _QUESTION.search(folded):
        marks.add("?")
    return frozenset(marks)


def _is_open(word: str) -> bool:
    return word in _OPEN or word.endswith(_OPEN_ENDINGS)


def _denials(folded: str, spaced: list[str]) -> Iterator[str]:
    yield from (sign for sign in folded if sign in _DENYING_SIGNS)
    for word in spaced:
        if word in _DENIALS or word.endswith(_DENYING_ENDINGS):
            yield word
