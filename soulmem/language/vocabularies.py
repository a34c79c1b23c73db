"""The words of a language by a dictionary, for telling an ordinary word with a capital from a name."""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from functools import lru_cache
from importlib import import_module

_REMEMBERED = 4  # languages; some 10 MB each


class Vocabulary:
    """Which words a dictionary has, with their case. By 64-bit hashes: a tenth of the dictionary's size."""

    def __init__(self, hashes: array[int]) -> None:
        self._hashes = hashes  # sorted

    def has(self, word: str) -> bool:
        """Whether the dictionary has the word as written."""
        key = hash(word)
        index = bisect_left(self._hashes, key)
        return index < len(self._hashes) and self._hashes[index] == key


@lru_cache(_REMEMBERED)
def vocabulary(language: str) -> Vocabulary | None:
    """The words of a language by its ISO 639-1 code; None where no dictionary can be read.

    The first call takes some 0.5 to 1.5 s and 100 MB for that time: for a thread that nobody waits for.
    """
    try:
        library = import_module("simplemma.strategies.dictionaries.dictionary_factory")
        factory = library.DefaultDictionaryFactory(cache_max_size=1)
        dictionary = factory.get_dictionary(language)
    except (ImportError, OSError, ValueError, AttributeError):
        return None
    return Vocabulary(array("q", sorted(map(hash, dictionary))))


def without_accents(word: str) -> str:
    """The word with the bare letters of those with accents."""
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(c for c in decomposed if not unicodedata.combining(c))
