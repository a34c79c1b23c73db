"""Base forms of English words, and classes of words that tell what the word beside them is."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from importlib import import_module

from soulmem.language.word_lists import pairs, word_set

OPENERS = word_set("en", "word_classes", "openers")
SINGULAR = word_set("en", "word_classes", "singular")
PLAIN_ADJECTIVES = word_set("en", "word_classes", "plain_adjectives")
NOUNS_TOO = word_set("en", "word_classes", "nouns_too")
OBJECTS = word_set("en", "word_classes", "objects")
BEFORE_VERBS = word_set("en", "word_classes", "before_verbs")
JOINTS = word_set("en", "word_classes", "joints")
_IRREGULAR = pairs("en", "word_classes", "irregular_forms")


class _English:
    """The English dictionary, as the compressed file has it: as a dictionary of Python it takes 50 MB more."""

    def __init__(self) -> None:
        library = import_module("simplemma.strategies")
        self._forms = library.DefaultStrategy(low_memory=True)
        lookup = library.DictionaryLookupStrategy
        self._words = lookup(library.LOW_MEMORY_DICTIONARY_FACTORY)

    def form(self, word: str) -> str:
        return str(self._forms.get_lemma(word, "en") or word).lower()

    def has(self, word: str) -> bool:
        found = self._words.get_lemma(unicodedata.normalize("NFC", word), "en")
        return found is not None


@cache
def _english() -> _English:
    return _English()


@lru_cache(1 << 15)
def dictionary_form(word: str) -> str:
    """The form that the English dictionary has of a lower-case word; the word where it has none."""
    return _english().form(word)


def base_form(word: str) -> str:
    """The base form of a lower-case word. Names have none, so do not ask for theirs."""
    if not (word.isascii() and word.isalpha()):
        return word
    return _IRREGULAR.get(word) or dictionary_form(word)


def is_english_word(word: str) -> bool:
    """Whether the English dictionary has the lower-case word."""
    return _english().has(word)


def prepare() -> None:
    """Read the dictionary of base forms, so that the first text need not wait for it."""
    base_form("readied")
