"""Which words do two texts have in common, whatever script and language they are in?

Two words are alike where most of their letters are the same from the start: endings differ, roots do not. Of
scripts without spaces each sign and each pair of signs is a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from soulmem.language.base_forms import base_form
from soulmem.language.function_words import (
    CHINESE_GRAMMAR_SIGNS,
    CHINESE_SIGNS,
    ENGLISH,
    ENGLISH_GRAMMAR,
)
from soulmem.language.grammars import ENGLISH_CODE, grammar_of
from soulmem.language.markup import plain
from soulmem.language.scripts import HAN, UNSPACED
from soulmem.language.spaced_words import words
from soulmem.language.vocabularies import without_accents

_SCRIPTS = {
    "han": HAN,
    "kana": "\u3041-\u30ff\u31f0-\u31ff",
    "hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "cyrillic": "\u0400-\u052f",
    "hebrew": "\u0590-\u05ff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "devanagari": "\u0900-\u097f",
    "thai": "\u0e00-\u0e7f",
}
_UNSPACED = ("han", "kana", "hangul", "thai")  # a sign counts as a word of the others
_RUNS = {
    name: re.compile(f"[{signs}]" + ("" if name in _UNSPACED else "+"))
    for name, signs in _SCRIPTS.items()
}
SIGNS = re.compile(f"[{UNSPACED}]+")
_NUMBER = re.compile(r"(?<![^\W\d_])\d+")
_ROOT = 4  # letters that two words must begin with to be alike
_SHARE = 0.6  # .. and their share of the longer one
_PART = 5  # letters of a word that may be a part of a compound
_ENDING = 2  # letters by which a declined name may be longer or differ
_REMEMBERED = 1 << 14


class PlacedWord(NamedTuple):
    """A word that says something, and where it stands in its text."""

    key: str  # base form where one is known, lower case, without accents
    place: int


def content_words(text: str, languages: tuple[str, ...] = ()) -> list[PlacedWord]:
    """The words of a text but for words of grammar, in no order; of these languages, of English by default."""
    return [*_spaced(text, languages), *_numbers(text), *_signs(text)]


def _spaced(text: str, languages: tuple[str, ...]) -> Iterator[PlacedWord]:
    is_english = not languages or ENGLISH_CODE in languages
    for word in words(text):
        low = word.low
        if len(low) < 2 or SIGNS.match(low) or _is_function_word(low, languages):
            continue
        key = base_form(low) if is_english else low
        if not (is_english and key in ENGLISH):
            yield PlacedWord(without_accents(key), word.place)


def _is_function_word(low: str, languages: tuple[str, ...]) -> bool:
    if not languages:
        return low in ENGLISH
    return any(
        low in (ENGLISH if code == ENGLISH_CODE else grammar_of(code).function_words)
        for code in languages
    )


def _numbers(text: str) -> Iterator[PlacedWord]:
    return (PlacedWord(m.group(), m.start()) for m in _NUMBER.finditer(text))


def _signs(text: str) -> Iterator[PlacedWord]:
    for match in SIGNS.finditer(text):
        run, start = match.group(), match.start()
        for index, sign in enumerate(run):
            if sign not in CHINESE_SIGNS:
                yield PlacedWord(sign, start + index)
            pair = run[index : index + 2]
            if len(pair) == 2 and CHINESE_GRAMMAR_SIGNS.isdisjoint(pair):
                yield PlacedWord(pair, start + index)


@lru_cache
def grammar_words(languages: tuple[str, ...]) -> frozenset[str]:
    """The words of grammar of these languages; verbs that may be denied are none."""
    found = set[str]()
    for code in languages or (ENGLISH_CODE,):
        is_english = code == ENGLISH_CODE
        found |= ENGLISH_GRAMMAR if is_english else grammar_of(code).function_words
    return frozenset(found)


@lru_cache(_REMEMBERED)
def alike(word: str, other: str) -> bool:
    """Whether two keys are forms of one word, or one is a part of the other, a compound."""
    if word == other:
        return True
    if SIGNS.match(word) or SIGNS.match(other):
        return False
    shorter, longer = sorted((word, other), key=len)
    common = _common_start(shorter, longer)
    if common >= _ROOT and common >= _SHARE * len(longer):
        return True
    return len(shorter) >= _PART and (longer.startswith(shorter) or longer.endswith(shorter))


def names_alike(word: str, other: str) -> bool:
    """Whether two words, in lower case, are one name, declined or not."""
    shorter, longer = sorted((word, other), key=len)
    common = _common_start(shorter, longer)
    if len(longer) - common > _ENDING:
        return False
    return common == len(shorter) > 1 or common >= _ROOT


def shares_words(text: str, other: str) -> bool:
    """Whether two texts have a word in common."""
    keys = {word.key for word in content_words(other)}
    return any(alike(word.key, key) for word in content_words(plain(text)) for key in keys)


def stands(name: str, text: str) -> bool:
    """Whether the name, in lower case, stands in the text in lower case, as whole words where it has some.

    A possessive ending may follow it.
    """
    if not name:
        return False
    if SIGNS.search(name):
        return name in text
    found = re.search(rf"(?<![^\W_]){re.escape(name)}(?:'?s)?(?![^\W_])", text)
    return found is not None or (
        bool(SIGNS.search(text))
        and re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", text) is not None
    )


def scripts(text: str) -> Counter[str]:
    """How many words, or signs, of each script the text has."""
    counts = {name: len(runs.findall(text)) for name, runs in _RUNS.items()}
    return Counter({name: count for name, count in counts.items() if count})


def _common_start(shorter: str, longer: str) -> int:
    pairs = zip(shorter, longer, strict=False)
    return next(
        (index for index, (mine, theirs) in enumerate(pairs) if mine != theirs),
        len(shorter),
    )
