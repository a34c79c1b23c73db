"""The concepts that a text is about, with their salience."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from soulmem.domain.terms import Term
from soulmem.language import base_forms, chinese, english_keywords, japanese
from soulmem.language.markup import PlainText, plain
from soulmem.language.scripts import HAN, UNSPACED
from soulmem.language.spaced_words import words

__all__ = ["MOST", "STRONG", "Term", "prepare", "terms"]

MOST = 16  # of one text
STRONG = 0.5  # salience from which a text is about a concept, rather than merely uses the word
_LONGEST_KEY = 48  # signs; what is longer is no word
_READ_OF_LATE = 64  # texts: the last lines of a chat are in several queries
_AGAIN = 0.08  # for each repetition, three times at most

_SENTENCE = re.compile(r"[^\n\u3002\uff01\uff1f!?\u2026]+")
_RUN = re.compile(f"[{UNSPACED}\u30fb]+")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_HAN_RUN = re.compile(f"[{HAN}]+")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]{2,}")


def terms(text: str) -> tuple[Term, ...]:
    """The concepts of a text, most salient first, at most `MOST`: words in their base form and short phrases.

    A function of the text alone. Role-play mark-up is looked through, talk about the game left out; Chinese,
    Japanese and scripts with spaces may stand side by side.
    """
    return _terms(plain(text))


@lru_cache(_READ_OF_LATE)
def _terms(words: PlainText) -> tuple[Term, ...]:
    """The concepts of a text without mark-up."""
    worth: dict[str, float] = {}
    seen: dict[str, int] = {}
    for key, value in _ranked(words):
        if len(key) <= _LONGEST_KEY:
            worth[key] = max(worth.get(key, 0.0), value)
            seen[key] = seen.get(key, 0) + 1
    keys = [(key, min(1.0, value + _AGAIN * min(seen[key] - 1, 3))) for key, value in worth.items()]
    keys.sort(key=_strongest_first)  # stable: of equals the first in the text
    return tuple(Term(key, round(value, 3)) for key, value in keys[:MOST])


def prepare() -> None:
    """Read the dictionaries, some 0.4 s: for a thread that nobody waits for."""
    base_forms.prepare()
    chinese.prepare()


def _strongest_first(entry: tuple[str, float]) -> float:
    return -entry[1]


def _ranked(text: str) -> Iterator[tuple[str, float]]:
    yield from english_keywords.ranked(words(text))
    if text.isascii() or _RUN.search(text) is None:
        return
    for sentence in _SENTENCE.findall(text):
        if _KANA.search(sentence):
            for run in _RUN.findall(sentence):
                yield from japanese.ranked(run)
        else:
            for run in _HAN_RUN.findall(sentence):
                yield from chinese.ranked(run)
            for word in _HANGUL.findall(sentence):
                yield word, chinese.WORD
