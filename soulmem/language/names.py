"""Names that a text gives, by how it writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from soulmem.language.base_forms import JOINTS
from soulmem.language.chinese_names import chinese_names
from soulmem.language.english_names import english_names, trimmed
from soulmem.language.foreign_names import (
    foreign_names,
    noun_names,
    nouns_have_capitals,
)
from soulmem.language.grammars import ENGLISH_CODE, languages_of
from soulmem.language.markup import plain
from soulmem.language.scripts import CAPITALS
from soulmem.language.spaced_words import Word, words

_MOST = 12  # of one text
_MOST_WORDS = 5  # of one name
_HEADLINE = 6  # words, of which most have capitals: a title marks no names by them
_MOST_CAPITALS = 0.7
_FEW = 8  # words; fewer without a word of grammar are read as English

_QUOTED = re.compile(
    rf"(?<=[\w,] )[\"\u201c]([{CAPITALS}][\w'\u2019 -]{{1,40}})[\"\u201d]"
)


def names(text: str) -> tuple[str, ...]:
    """The names that a text gives, as written, at most a dozen: a function of the text alone.

    Names that are known already, and that of who speaks, are among them.
    """
    return tuple(dict.fromkeys(_in_order(plain(text))))[:_MOST]


def _in_order(text: str) -> Iterator[str]:
    for name in _spaced(words(text), text):
        trimmed_name = trimmed(name)
        if 0 < len(trimmed_name) <= _MOST_WORDS:
            yield " ".join(trimmed_name)
    if not text.isascii():
        yield from chinese_names(text)


def _spaced(text_words: Sequence[Word], text: str) -> Iterator[list[str]]:
    """Names of scripts with spaces, each as its words: first those by capitals, then the quoted ones."""
    codes = languages_of(text_words)
    is_english = codes == (ENGLISH_CODE,)
    if is_english or (not codes and len(text_words) < _FEW):
        if not _is_headline(text_words):
            yield from english_names(text_words, is_sure=is_english)
    elif nouns_have_capitals(text_words, codes):
        yield from noun_names(text_words, codes)
        return
    elif not _is_headline(text_words):
        yield from foreign_names(text_words, codes)
    yield from _quoted(text)


def _is_headline(text_words: Sequence[Word]) -> bool:
    capitals = sum(word.capital for word in text_words)
    count = len(text_words)
    return count >= _HEADLINE and capitals > _MOST_CAPITALS * count


def _quoted(text: str) -> Iterator[list[str]]:
    """What stands in quotation marks within a sentence and has the capitals of a name."""
    for match in _QUOTED.finditer(text):
        parts = match[1].split()
        if all(part[0].isupper() or part.lower() in JOINTS for part in parts):
            yield [part.strip("'\u2019") for part in parts]
