"""What is listed of each language beside English, Chinese and Japanese, and the guess which one a text is in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from soulmem.language.function_words import ENGLISH
from soulmem.language.spaced_words import Word
from soulmem.language.word_lists import tables

ENGLISH_CODE = "en"
_LEAST = 0.125  # share of a text's words that are function words of its language
LISTED = tuple(
    ["cs", "da", "de", "es", "fr", "it", "nb", "nl", "pl", "pt", "ru", "sv", "uk"]
)  # ISO 639-1


@dataclass(frozen=True, slots=True)
class Grammar:
    """The word lists of a language, lower case."""

    function_words: frozenset[str]
    determiners: frozenset[str]  # of a language with capital nouns
    addresses: frozenset[str]  # before a name a part of it, alone no name
    joints: frozenset[str]  # in lower case within a name
    nouns_have_capitals: bool
    endings: tuple[str, ...]  # of ordinary words, whether a dictionary has them or not
    elisions: tuple[str, ...]  # before an apostrophe
    clitics: tuple[str, ...]  # behind a verb, written as a part of it
    plurals: tuple[str, ...]  # endings that a noun takes and a name does not


@cache
def grammar_of(language: str) -> Grammar:
    """The lists of a language of `LISTED`."""
    file = tables(language)
    functions, names, forms = (
        file["function_words"],
        file["names"],
        file.get("word_forms", {}),
    )
    return Grammar(
        function_words=frozenset(_list(functions, "words")),
        determiners=frozenset(_list(functions, "determiners")),
        addresses=frozenset(_list(names, "addresses")),
        joints=frozenset(_list(names, "joints")),
        nouns_have_capitals=bool(file.get("nouns_have_capitals", False)),
        endings=_list(forms, "endings"),
        elisions=_list(forms, "elisions"),
        clitics=_list(forms, "clitics"),
        plurals=_list(forms, "plurals"),
    )


def languages_of(words: Iterable[Word]) -> tuple[str, ...]:
    """The languages that share most function words with the text, in order of their codes.

    English where it is one of several with as many, and else all of them; none where hardly any word of the
    text is a function word. A capital within a sentence makes none of a word.
    """
    by_word = _languages_by_word()
    counts: Counter[str] = Counter()
    size = 0
    for word in words:
        size += 1
        if word.starts or not word.capital:
            counts.update(by_word.get(word.low, ()))
    most = max(counts.values(), default=0)
    if counts[ENGLISH_CODE] == most > 0:
        return (ENGLISH_CODE,)
    if most < _LEAST * size:
        return ()
    return tuple(sorted(code for code, count in counts.items() if count == most > 0))


@cache
def _languages_by_word() -> Mapping[str, tuple[str, ...]]:
    codes: defaultdict[str, list[str]] = defaultdict(list)
    for word in ENGLISH:
        codes[word].append(ENGLISH_CODE)
    for language in LISTED:
        for word in grammar_of(language).function_words:
            codes[word].append(language)
    # A Latin letter alone may be a word of many languages.
    telling = (word for word in codes if len(word) > 1 or not word.isascii())
    return {word: tuple(codes[word]) for word in telling}


def _list(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(table.get(key, "").split())
