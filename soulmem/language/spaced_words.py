"""Words of texts in scripts with spaces, with what their place tells about their capitals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from soulmem.language.function_words import ENGLISH
from soulmem.language.scripts import UNSPACED

_LETTER = rf"(?![{UNSPACED}_\d])\w"
_TOKEN = re.compile(
    rf"(?P<word>{_LETTER}(?:(?![{UNSPACED}_])\w)*(?:['\u2019\-](?:{_LETTER})(?:(?![{UNSPACED}_])\w)*)*)"
    r"|(?P<end>[.!?\u2026\n\"\u201c\u201d\u00ab\u00bb:;\u2014\u2013()\[\]]|[\u3002\uff01\uff1f\uff1a\uff1b])"
    rf"|(?P<other>[,\uff0c\u3001\d/&+=|]|[{UNSPACED}]+)"
)
_ENDINGS = ("'s", "'re", "'ve", "'ll", "'m", "'d", "'")
_STRETCHED = re.compile(r"(\w)\1\1")
_VOWEL = re.compile(r"[aeiouyAEIOUY\u00c0-\u024f]|[^\x00-\u024f]")
_SHOUTED = 3  # words all in capitals


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in a text."""

    raw: str  # without a possessive ending
    place: int  # of its first character in the text
    starts: bool  # a sentence, a line or a quotation: a capital means nothing
    joined: bool  # nothing stands between it and the word before
    possessive: bool
    low: str  # in lower case
    capital: bool  # whether it begins with a capital letter

    @property
    def is_loud(self) -> bool:
        """Whether it is all in capitals, and more than a letter."""
        return len(self.raw) > 1 and self.raw.isupper()

    def behind(self, length: int) -> Word:
        """The word without its first characters."""
        raw, place = self.raw[length:], self.place + length
        return replace(self, raw=raw, place=place, low=raw.lower(), capital=raw[0].isupper())


def words(text: str) -> list[Word]:
    """The words of a plain text, in order."""
    out: list[Word] = []
    starts, joined = True, False
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "word":
            raw = match.group().replace("\u2019", "'")
            bare = _bare(raw)
            out.append(
                Word(
                    raw=bare,
                    place=match.start(),
                    starts=starts,
                    joined=joined,
                    possessive=raw != bare,
                    low=bare.lower(),
                    capital=bare[0].isupper(),
                )
            )
            starts, joined = False, True
        else:
            starts = starts or match.lastgroup == "end"
            joined = False
    return out


def is_stop(word: str) -> bool:
    """Whether the lower-case word tells nothing about the topic of a text: English ones, and noises."""
    return (
        word in ENGLISH
        or len(word) < 2
        or word.endswith("n't")
        or _STRETCHED.search(word) is not None
        or (word.isascii() and _VOWEL.search(word) is None and len(word) < 5)
    )


def loud_words(text: Sequence[Word]) -> frozenset[str]:
    """The words all in capitals of a text that shouts, whose capitals mark no names; none where it does not."""
    loud = [word.raw for word in text if word.is_loud]
    return frozenset(loud if len(loud) >= _SHOUTED else ())


def _bare(raw: str) -> str:
    low = raw.lower()
    for ending in _ENDINGS:
        if low.endswith(ending) and len(raw) > len(ending):
            return raw[: -len(ending)]
    return raw
