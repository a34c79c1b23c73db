"""Names that a text gives, by how it writes them, and which of them it introduces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from soulmem.language.base_forms import JOINTS
from soulmem.language.chinese_names import chinese_names
from soulmem.language.english_names import OF_PLACES, english_names, trimmed
from soulmem.language.foreign_names import (
    foreign_names,
    noun_names,
    nouns_have_capitals,
)
from soulmem.language.grammars import ENGLISH_CODE, languages_of
from soulmem.language.markup import plain
from soulmem.language.scripts import CAPITALS, is_unspaced
from soulmem.language.spaced_words import Word, words
from soulmem.language.word_lists import alternatives
from soulmem.language.word_lists import words as listed

_MOST = 12  # of one text
_MOST_WORDS = 5  # of one name
_HEADLINE = 6  # words, most with capitals: a title marks no names by them
_MOST_CAPITALS = 0.7
_FEW = 8  # words; fewer without a word of grammar are read as English

_QUOTED = re.compile(rf"(?<=[\w,] )[\"\u201c]([{CAPITALS}][\w'\u2019 -]{{1,40}})[\"\u201d]")

_FILE = "introductions"
_QUOTE = "[“”‘’「『」』]?"  # works have them where words have spaces
_TITLES = alternatives(listed(_FILE, "before", "titles"))
_ROLES = alternatives(listed(_FILE, "before", "roles"))
_SPACED = alternatives((*listed(_FILE, "before", "naming"), _TITLES, _ROLES))
_UNSPACED = alternatives(listed(_FILE, "before", "unspaced"))
_BEFORE = re.compile(
    rf"(?<![\w'’])(?:(?:{_SPACED})|(?:{_ROLES}),)\s+\Z|(?:{_UNSPACED}){_QUOTE}\Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(rf"{_QUOTE}(?:{alternatives(listed(_FILE, 'behind', 'unspaced'))})")
_TITLE = re.compile(rf"(?:{_TITLES})\s+(?!of\b|the\b)(?=\S)", re.IGNORECASE)
_WITHIN = re.compile(
    rf"{_TITLE.pattern}|(?:{alternatives(listed(_FILE, 'within', 'unspaced'))})\Z",
    re.IGNORECASE,
)
_FAR = 24  # signs before a name that are looked at
_PLACES = 8  # where a name stands; whom a text introduces it introduces early


def names(text: str) -> tuple[str, ...]:
    """The names that a text gives, as written, at most a dozen: a function of the text alone.

    Names that are known already, and that of who speaks, are among them.
    """
    return tuple(dict.fromkeys(_in_order(plain(text))))[:_MOST]


def introduced(text: str, names: Iterable[str]) -> frozenset[str]:
    """Those of the names, found in the text, that it introduces: "my sister Ada", "Inspector Quill", "我姐林汐".

    A person introduced so is known without being named again.
    """
    return frozenset(name for name in names if _introduces(text, name))


def without_title(name: str) -> str:
    """Kaelith of Sir Kaelith; any other name as it is."""
    return _TITLE.sub("", name, count=1) if _TITLE.match(name) else name


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


def _introduces(text: str, name: str) -> bool:
    if name.split()[-1].lower() in OF_PLACES:
        return False
    if _WITHIN.match(name):
        return True
    return any(
        _BEFORE.search(text[max(at - _FAR, 0) : at]) or _BEHIND.match(text, at + len(name))
        for at in islice(_places(text, name), _PLACES)
    )


def _places(text: str, name: str) -> Iterator[int]:
    """Where the name stands as a word of its own."""
    is_whole = not is_unspaced(name)
    at = text.find(name)
    while at >= 0:
        stop = at + len(name)
        if not (is_whole and text[stop : stop + 1].isalnum()):
            yield at
        at = text.find(name, stop)
