"""Details of a text: its numbers, days, places and quotations, and where it holds given names. en, zh, ja."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from soulmem.language.clauses import Stretch, quotes
from soulmem.language.markup import LONGEST
from soulmem.language.scripts import HAN, is_unspaced
from soulmem.language.word_lists import alternatives, signs, words

_MOST = 300  # of one text; a long one has some dozen


class DetailKind(str, Enum):
    """What a detail is; the value is the key of its gist in the word lists."""

    PERSON = "person"
    NAME = "name"
    PLACE = "place"
    NUMBER = "number"
    TIME = "time"
    HOUR = "hour"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Detail:
    """Characters `start` to `end` of a text; `name` is the given name that stands there, if any."""

    start: int
    end: int
    kind: DetailKind
    name: str = ""


_MONTH = alternatives(words("en", "times", "months"))
_WEEKDAY = alternatives(words("en", "times", "weekdays"))
_NUMBER = alternatives(words("en", "times", "numbers"))
_NUMERAL = r"\d〇零一二三四五六七八九十百千万萬两兩"
_MEASURE = signs("zh", "details", "measures")
_TIMES = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:{_MONTH})\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}}\b)?"
    rf"|\b(?:{_WEEKDAY})s?\b|\b\d{{4}}-\d\d-\d\d\b"
    rf"|(?:[{_NUMERAL}]{{1,5}}年)?[{_NUMERAL}]{{1,3}}月(?:[{_NUMERAL}]{{1,3}}[日号號])?|[{_NUMERAL}]{{2,5}}年"
    rf"|[{_NUMERAL}]{{1,3}}[日号號](?![{HAN}])|(?:星期|礼拜|周)[一二三四五六日天]|[月火水木金土日]曜日?"
)
_HOURS = re.compile(
    rf"\b\d{{1,2}}:\d\d(?: ?[ap]\.?m\b)?|\b\d{{1,2}} ?(?:am|pm|o'clock)\b"
    rf"|(?!一[点點](?![半钟鐘二三四五十]))[{_NUMERAL}]{{1,3}}(?:点|點|時)(?:半|[{_NUMERAL}]{{1,3}}分?)?"
)
_NUMBERS = re.compile(
    rf"(?<![\w.,])\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|%)?(?![\w])|\b(?:{_NUMBER})(?:[- ](?:{_NUMBER}))*\b"
    rf"|(?:[{_NUMERAL}]{{2,9}}|[\d二三四五六七八九十两兩])[{_MEASURE}]|(?<![{_NUMERAL}])[二三四五六七八九十百千万萬]{{2,9}}|\d+",
    re.IGNORECASE,
)
_PATTERNS = {
    DetailKind.TIME: _TIMES,
    DetailKind.HOUR: _HOURS,
    DetailKind.NUMBER: _NUMBERS,
}


def details(
    text: str,
    names: Mapping[str, DetailKind | None],
    place: str | None = None,
    start: int = 0,
) -> list[Detail]:
    """The details from `start` on, in order and without overlap: names before places, times, numbers.

    names  given ones, looked for as they are written; None: no detail, and what stands in it is none either
    place  where the text says that it happens, if it does
    Quotations may hold other details. At most 300, of the first 20,000 characters.
    """
    taken: list[Detail] = []
    for detail in _candidates(text[: start + LONGEST], names, place, start):
        if len(taken) == _MOST:
            break
        if not any(detail.start < o.end and o.start < detail.end for o in taken):
            taken.append(detail)
    own = {name for name, kind in names.items() if kind is None}
    shown = [detail for detail in taken if detail.name not in own]
    inside = [
        Detail(begin, end, DetailKind.QUOTE) for begin, end in quotes(text, start)
    ]
    return sorted([*shown, *inside], key=lambda detail: (detail.start, -detail.end))


def _candidates(
    text: str, names: Mapping[str, DetailKind | None], place: str | None, start: int
) -> Iterator[Detail]:
    for name in sorted(names, key=lambda name: (-len(name), name)):
        kind = DetailKind.PLACE if name == place else names[name]
        for begin, end in _places_of(text, name, start):
            yield Detail(begin, end, kind or DetailKind.NAME, name)
    for begin, end in _places_of(text, place or "", start):
        yield Detail(begin, end, DetailKind.PLACE)
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text, start):
            yield Detail(*match.span(), kind)


def _places_of(text: str, name: str, start: int) -> Iterator[Stretch]:
    """Where the name stands, as written, and not within a longer word."""
    if not name.strip():
        return
    edge = "" if is_unspaced(name) else r"\b"
    written = re.compile(f"{edge}{re.escape(name)}{edge}")
    for match in written.finditer(text, start):
        yield match.span()
