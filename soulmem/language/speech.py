"""How a line speaks: of who says it, to whom it is said, of a person named before, and what it denies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf

from soulmem.language.grammars import languages_of
from soulmem.language.markup import plain
from soulmem.language.scripts import is_unspaced
from soulmem.language.spaced_words import words
from soulmem.language.word_lists import tables

_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_PART = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[.,;:!?\u2026\u2014*\"()]")
_CLAUSES = re.compile("[^，。！？；：、…*“”]+")
_REACH = 3  # words behind a denial that it may deny
_SIGNS = 2  # likewise, of a script without spaces
_FAR = 4  # words, or signs, behind a denial that it may be meant for
_NOT = "n't"


def language_of(text: str) -> str:
    """ISO 639-1 code of the language that the text is most likely in; empty where nothing tells."""
    if is_unspaced(text):
        if _HANGUL.search(text):
            return ""
        return "ja" if _KANA.search(text) else "zh"
    codes = languages_of(words(plain(text)))
    return codes[0] if codes else ""


@lru_cache(maxsize=8192)  # each line is compared with much the same memories
def languages_said(text: str) -> frozenset[str]:
    """ISO 639-1 codes of all languages that the text may be in; empty where no word or sign shows any."""
    if is_unspaced(text):
        return frozenset(filter(None, [language_of(text)]))
    return frozenset(languages_of(words(plain(text))))


@cache
def speech_of(language: str) -> Speech:
    """How lines of a language speak; of one without lists nothing can be told."""
    first, second, third, denial = (
        tuple(tables("speech")[key].get(language, "").split())
        for key in ("first", "second", "third", "denial")
    )
    return Speech(first, second, third, denial, is_unspaced=language in ("zh", "ja"))


@dataclass(frozen=True)
class Speech:
    """The lists of one language, lower case."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    third: tuple[str, ...]
    denial: tuple[str, ...]
    is_unspaced: bool

    @property
    def is_known(self) -> bool:
        """Whether the language has lists."""
        return bool(self.first)

    def tells_of_speaker(self, text: str) -> bool:
        """Whether it has a word for who says it: I, my, us."""
        return self._has(text, self.first)

    def tells_of_listener(self, text: str) -> bool:
        """Whether it has a word for whom it is said to: you, your."""
        return self._has(text, self.second)

    def tells_of_another(self, text: str) -> bool:
        """Whether a pronoun of the third person, he or her, stands before any word for speaker or listener."""
        return self._place(text, self.third) < self._place(text, (*self.first, *self.second))

    def denied(self, text: str) -> frozenset[str]:
        """The words, or pairs of signs, close behind a denial in its clause, lower case."""
        return frozenset(self._denied(text, _REACH, _SIGNS))

    def may_be_denied(self, text: str) -> frozenset[str]:
        """The words, or signs, that a denial before them in their clause may be meant for, lower case."""
        return frozenset(self._denied(text, _FAR, _FAR))

    def _has(self, text: str, listed: Sequence[str]) -> bool:
        if self.is_unspaced:
            return any(word in text for word in listed)
        return any(part in listed for part in _parts(text))

    def _place(self, text: str, listed: Sequence[str]) -> float:
        """Where the first of these words stands; infinite where none does."""
        if self.is_unspaced:
            places = (text.find(word) for word in listed)
            return min((place for place in places if place >= 0), default=inf)
        parts = _parts(text)
        return next((i for i, part in enumerate(parts) if part in listed), inf)

    def _denied(self, text: str, reach: int, signs: int) -> Iterator[str]:
        if self.is_unspaced:
            for clause in _CLAUSES.findall(text):
                yield from self._denied_signs(clause, signs)
            return
        left, before = 0, ""
        for part in _parts(text):
            if part in self.denial or part.endswith(_NOT):
                if before:
                    yield before  # "knows nothing"
                left, before = reach, ""
            elif not part[0].isalpha():
                left, before = 0, ""
            else:
                before = part
                if left:
                    left -= 1
                    yield part

    def _denied_signs(self, clause: str, signs: int) -> Iterator[str]:
        for sign in self.denial:
            for match in re.finditer(re.escape(sign), clause):
                behind = clause[match.end() : match.end() + signs]
                if behind and not behind.startswith(self.denial):
                    yield behind


def _parts(text: str) -> list[str]:
    """The words and marks of a text, lower case; a word with an apostrophe whole and its head too."""
    out: list[str] = []
    for match in _PART.finditer(text.lower().replace("\u2019", "'")):
        part = match.group()
        out.append(part)
        head, apostrophe, _ = part.partition("'")
        if apostrophe and not part.endswith(_NOT):
            out.append(head + apostrophe)
    return out
