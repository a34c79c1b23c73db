"""What of a text stands in the prompt already, whole or nearly, and what of it is left to tell?

Texts are compared by their words, or by their signs where a script has no spaces, without case, punctuation
and markup. Whether a difference matters to the sense is not asked: one word may differ. But another name or
number makes another statement: "We met Ada by the mill." does not tell of Bo. A short quotation
counts as a name.
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
_SIGN = re.compile(f"[{UNSPACED}]")
_INSIDE = re.compile(r"(?<=[\w,;] )\w+")  # a word inside a sentence
_MARKS = '"\u201c\u201d\u300a\u300b\u300c\u300d\u300e\u300f'  # of quotations: \u300ctitle\u300d, "name"
_QUOTED = re.compile(f"[{_MARKS}]([^{_MARKS}\n]{{1,24}})[{_MARKS}]")
_LABEL = re.compile(r"[^:\uff1a\n]{1,60}[:\uff1a]\s*")  # "Alice: ..", "Varn: .."
# A sentence from so many words or signs on is somebody's own: shorter ones ("Good night.") are said by
# everybody, and one other word makes another statement of them. Issue 15, acceptance B.
_WORDS, _SIGNS = 8, 12
_OTHER = (
    2  # signs that one word has at most in Chinese; nearly all with three are names
)
_WORD = _OTHER  # what a spaced word weighs, so that one of them may differ
_WALL = " | "  # between two texts; no unit is written so
_LOOKED_AT = 50  # places of half a sentence that are compared: what stands more often is no sentence of anybody
_KEPT = 8_000  # signs of a text whose units are remembered: the context is nearly the same the next turn


def is_sentence(units: Sequence[str]) -> bool:
    """Whether these units are enough to be somebody's own words."""
    signs = sum(1 for unit in units if _SIGN.match(unit))
    return (len(units) - signs) / _WORDS + signs / _SIGNS >= 1


def units_of(text: str) -> list[str]:
    """The words of the text, and the signs of scripts without spaces."""
    return _UNIT.findall(
        _APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold())
    )


class ContextText:
    """The texts that stand in the prompt."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = _WALL.join(map(_line, texts))

    def add(self, text: str) -> None:
        """Let the text stand there, too."""
        self._text += _WALL + _line(text)

    def rest_of(self, text: str, speakers: Iterable[str] = ()) -> str | None:
        """The text without its sentences that stand there; itself when none does, None when hardly anything
        is left.

        speakers  names that may stand before the text with a colon; what else is a label there is known by
                  a whole sentence behind it
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
                and (
                    self._has(sentence_units) or self._nearly_has(sentence_units, names)
                )
            ):
                kept.append(sentence)
        rest = "".join(kept)
        if len(rest) == len(text) - start:
            return text
        return text[:start] + rest.strip() if is_sentence(units_of(rest)) else None

    def _has(self, units: Sequence[str]) -> bool:
        return f" {' '.join(units)} " in self._text

    def _nearly_has(self, units: Sequence[str], names: Set[str]) -> bool:
        """Whether they stand there but for one word, which is none of the names and no number: of what it
        parts one side is half of them at least.
        """
        half = (len(units) - _OTHER) // 2
        head, tail = list(units[:half]), list(units[-half:])
        size = len(" ".join(units)) + 2 * _OTHER + max(map(len, units)) + 1
        for _, end in islice(self._places(head), _LOOKED_AT):
            if _alike(units, names, head + self._text[end : end + size].split()):
                return True
        backwards = list(reversed(units))
        for begin, _ in islice(self._places(tail), _LOOKED_AT):
            before = self._text[max(0, begin - size) : begin].split()
            if _alike(backwards, names, list(reversed(before + tail))):
                return True
        return False

    def _places(self, units: Sequence[str]) -> Iterator[tuple[int, int]]:
        """From where to where these units stand."""
        wanted = f" {' '.join(units)} "
        begin = self._text.find(wanted)
        while begin >= 0:
            yield begin, begin + len(wanted)
            begin = self._text.find(wanted, begin + 1)


def _alike(units: Sequence[str], names: Set[str], there: Sequence[str]) -> bool:
    """Whether `there` begins with the units but for one word, that is another, missing, or too much."""
    pairs = zip(units, there, strict=False)
    same = next(
        (i for i, (a, b) in enumerate(pairs) if a != b), min(len(units), len(there))
    )
    for mine in range(_OTHER + 1):
        if any(unit in names or unit.isdecimal() for unit in units[same : same + mine]):
            return False
        behind = units[same + mine :]
        for theirs in range(_OTHER + 1):
            gap = max(
                _weight(units[same : same + mine]), _weight(there[same : same + theirs])
            )
            if gap <= _OTHER and list(
                there[same + theirs : same + theirs + len(behind)]
            ) == list(behind):
                return True
    return False


def _weight(units: Sequence[str]) -> int:
    if _WALL.strip() in units:
        return _OTHER + 1  # behind it another text begins
    return sum(1 if _SIGN.match(unit) else _WORD for unit in units)


def _names(text: str, start: int) -> set[str]:
    """Units of words that begin with a capital inside a sentence, unless the text shouts, and of what stands
    in quotation marks and is shorter than a sentence: scripts without capitals mark names so.
    """
    words = _INSIDE.findall(text, start)
    named = [word for word in words if word[:1].isupper() and not word.isupper()]
    quoted = [units_of(quote) for quote in _QUOTED.findall(text, start)]
    units = [units_of(word) for word in named] + [
        quote for quote in quoted if not is_sentence(quote)
    ]
    return set(chain.from_iterable(units))


def _behind_label(text: str, speakers: Iterable[str]) -> int:
    """Where the text itself begins."""
    for name in speakers:
        if name and text.startswith((f"{name}:", f"{name}\uff1a")):
            return len(text) - len(text[len(name) + 1 :].lstrip())
    label = _LABEL.match(text)
    if label is not None and is_sentence(units_of(next(pieces(text, label.end()), ""))):
        return label.end()
    return 0


def _line(text: str) -> str:
    """The units of a text between spaces, with one before and one behind."""
    return _kept_line(text) if len(text) <= _KEPT else _made_line(text)


def _made_line(text: str) -> str:
    return f" {' '.join(units_of(text))} "


_kept_line = lru_cache(maxsize=2_000)(_made_line)
