"""Removes sentences of a memory that the prompt already contains, exactly or up to one word.

Texts are compared by their words, or by their characters where a script has no spaces, without case,
punctuation and markup. One word may differ, whatever it means, but no name and no number: "We met Ada by the
mill." is not a repetition of the same sentence about Bo. A short quotation counts as a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain, islice

from soulmem.language.scripts import UNSPACED
from soulmem.language.segmentation import pieces

_UNIT = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}_])\w)+")
_APOSTROPHE = re.compile("['\u2019\u02bc]")  # inside a word: "don't" is one
_CHARACTER = re.compile(f"[{UNSPACED}]")
_INSIDE = re.compile(r"(?<=[\w,;] )\w+")  # a word inside a sentence
# of quotations: \u300ctitle\u300d, "name"
_MARKS = '"\u201c\u201d\u300a\u300b\u300c\u300d\u300e\u300f'
_QUOTED = re.compile(f"[{_MARKS}]([^{_MARKS}\n]{{1,24}})[{_MARKS}]")
_LABEL = re.compile(r"[^:\uff1a\n]{1,60}[:\uff1a]\s*")  # "Alice: ..", "Varn: .."
# Least words or characters of a sentence that is compared: shorter ones ("Good night.") recur by chance, and
# one other word changes their sense. Issue 15, acceptance B.
_WORDS, _CHARACTERS = 8, 12
# characters that a Chinese word has at most; nearly all with three are names
_MOST_DIFFERENCE = 2
# weight of a spaced word, so that one of them may differ
_WORD_WEIGHT = _MOST_DIFFERENCE
_TEXT_SEPARATOR = " | "  # between two texts; no unit equals it
# positions of half a sentence that are compared; more frequent ones are phrases
_MOST_POSITIONS = 50
# longest text in characters whose units are cached: the context changes little
_LONGEST_CACHED = 8_000


def is_sentence(units: Sequence[str]) -> bool:
    """Whether these units are long enough to be compared as a sentence."""
    characters = sum(1 for unit in units if _CHARACTER.match(unit))
    return (len(units) - characters) / _WORDS + characters / _CHARACTERS >= 1


def units_of(text: str) -> list[str]:
    """The words of the text, and the single characters of scripts without spaces."""
    return _UNIT.findall(_APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold()))


class ContextText:
    """The texts that are in the prompt."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = _TEXT_SEPARATOR.join(map(_line, texts))

    def copy(self) -> ContextText:
        """The same texts, to which others can be added apart."""
        copied = ContextText(())
        copied._text = self._text
        return copied

    def add(self, text: str) -> None:
        """Add a text to the prompt."""
        self._text += _TEXT_SEPARATOR + _line(text)

    def rest_of(self, text: str, speakers: Iterable[str] = ()) -> str | None:
        """The text without its sentences that are in the prompt; unchanged when none is, None when less than a
        sentence remains.

        speakers  names that may precede the text with a colon; another label is recognised by a whole
                  sentence behind it
        """
        start = _behind_label(text, speakers)
        units = units_of(text[start:])
        if not units:
            return text
        names = _names(text, start)
        if self._has(units) or (is_sentence(units) and self._nearly_has(units, names)):
            return None
        if not is_sentence(units):
            return text
        kept: list[str] = []
        for sentence in pieces(text, start):
            sentence_units = units_of(sentence)
            if not (
                is_sentence(sentence_units)
                and (self._has(sentence_units) or self._nearly_has(sentence_units, names))
            ):
                kept.append(sentence)
        rest = "".join(kept)
        if len(rest) == len(text) - start:
            return text
        return text[:start] + rest.strip() if is_sentence(units_of(rest)) else None

    def _has(self, units: Sequence[str]) -> bool:
        return f" {' '.join(units)} " in self._text

    def _nearly_has(self, units: Sequence[str], names: Set[str]) -> bool:
        """Whether the prompt contains the units up to one word, which is neither in `names` nor a number. One
        side of it must be at least half of the units.
        """
        half = (len(units) - _MOST_DIFFERENCE) // 2
        head, tail = list(units[:half]), list(units[-half:])
        size = len(" ".join(units)) + 2 * _MOST_DIFFERENCE + max(map(len, units)) + 1
        for _, end in islice(self._places(head), _MOST_POSITIONS):
            if _matches_nearly(units, names, head + self._text[end : end + size].split()):
                return True
        backwards = list(reversed(units))
        for begin, _ in islice(self._places(tail), _MOST_POSITIONS):
            before = self._text[max(0, begin - size) : begin].split()
            if _matches_nearly(backwards, names, list(reversed(before + tail))):
                return True
        return False

    def _places(self, units: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Begin and end of each occurrence of these units."""
        wanted = f" {' '.join(units)} "
        begin = self._text.find(wanted)
        while begin >= 0:
            yield begin, begin + len(wanted)
            begin = self._text.find(wanted, begin + 1)


def _matches_nearly(units: Sequence[str], names: Set[str], there: Sequence[str]) -> bool:
    """Whether `there` begins with the units up to one word that is changed, missing or added."""
    pairs = zip(units, there, strict=False)
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(units), len(there)))
    for mine in range(_MOST_DIFFERENCE + 1):
        if any(unit in names or unit.isdecimal() for unit in units[same : same + mine]):
            return False
        behind = units[same + mine :]
        for theirs in range(_MOST_DIFFERENCE + 1):
            gap = max(_weight(units[same : same + mine]), _weight(there[same : same + theirs]))
            if gap <= _MOST_DIFFERENCE and list(
                there[same + theirs : same + theirs + len(behind)]
            ) == list(behind):
                return True
    return False


def _weight(units: Sequence[str]) -> int:
    if _TEXT_SEPARATOR.strip() in units:
        return _MOST_DIFFERENCE + 1  # another text begins behind it
    return sum(1 if _CHARACTER.match(unit) else _WORD_WEIGHT for unit in units)


def _names(text: str, start: int) -> set[str]:
    """Units that may be names: of words with a capital inside a sentence, except in capitals throughout, and of
    quotations shorter than a sentence, as scripts without capitals mark names by them.
    """
    words = _INSIDE.findall(text, start)
    named = [word for word in words if word[:1].isupper() and not word.isupper()]
    quoted = [units_of(quote) for quote in _QUOTED.findall(text, start)]
    units = [units_of(word) for word in named] + [
        quote for quote in quoted if not is_sentence(quote)
    ]
    return set(chain.from_iterable(units))


def _behind_label(text: str, speakers: Iterable[str]) -> int:
    """Position behind the label of a speaker; 0 without one."""
    for name in speakers:
        if name and text.startswith((f"{name}:", f"{name}\uff1a")):
            return len(text) - len(text[len(name) + 1 :].lstrip())
    label = _LABEL.match(text)
    if label is not None and is_sentence(units_of(next(pieces(text, label.end()), ""))):
        return label.end()
    return 0


def _line(text: str) -> str:
    """The units of a text, joined by spaces, with a space before and behind."""
    return _kept_line(text) if len(text) <= _LONGEST_CACHED else _made_line(text)


def _made_line(text: str) -> str:
    return f" {' '.join(units_of(text))} "


_kept_line = lru_cache(maxsize=2_000)(_made_line)
