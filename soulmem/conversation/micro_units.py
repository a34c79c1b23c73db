"""Micro-units of a text: its clauses, and the names, numbers, days, places and quotations in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from soulmem.domain.micro_units import UnitSpan
from soulmem.language.clauses import Stretch, clauses, quotes
from soulmem.language.general_rarity import share_of_rare_words, tokens_of
from soulmem.language.gists import gist_language, topic_of, type_words
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
    inside = [Detail(begin, end, DetailKind.QUOTE) for begin, end in quotes(text, start)]
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


def _cue(key: str, also: str = "") -> re.Pattern[str]:
    spaced = alternatives(words("en", "importance", key))
    unspaced = alternatives(words("zh", "importance", key))
    return re.compile(rf"\b(?:{spaced})\b{also}|{unspaced}", re.IGNORECASE)


_FEELING = _cue("feelings")
_VOW_OR_DATE = _cue("vows_and_dates", r"|\d")


def feeling_words(text: str) -> int:
    """How many words of feeling the text holds, denied ones too."""
    return sum(1 for _ in _FEELING.finditer(text))


def has_vow_or_date(text: str) -> bool:
    """Whether it holds a vow, a date, a number or a turning point of a life."""
    return _VOW_OR_DATE.search(text) is not None


# Parts of the salience of a clause: how rare its words are, and what a listener remembers longest.
_RARITY_WEIGHT, _FEELING_WEIGHT, _VOW_WEIGHT = 0.7, 0.15, 0.15
_LEAST_OF_DETAIL = 0.25  # salience: a name or a number says something in any clause
_LONGEST_GIST = 60  # characters; a gist says less than what it stands for


def unit_spans(
    text: str,
    names: Mapping[str, str | None],
    place: str | None = None,
    start: int = 0,
    new_names: Collection[str] = (),
) -> tuple[UnitSpan, ...]:
    """The units of a text from `start` on, in code points, outer ones first; a function of the arguments alone.

    names      known ones that may stand in the text, with what is told of each instead; "" for a type word, None
               for one that nobody forgets: its own, and those of whom it talks with
    place      where the text says that it happens
    start      behind the label of who speaks, which belongs to no unit
    new_names  that the text gives and nobody knows; of a script without spaces they are no details, as half of
               them are ordinary words

    Texts in other languages than English, Chinese and Japanese have clauses only, without gists.
    """
    language = gist_language(text[start:])
    inside = []
    if language is not None:
        kinds: dict[str, DetailKind | None] = {
            n: DetailKind.NAME for n in new_names if not is_unspaced(n)
        }
        for name, description in names.items():
            kinds[name] = None if description is None else DetailKind.PERSON
        inside = details(text, kinds, place, start)
    out: list[UnitSpan] = []
    for clause in clauses(text, start):
        mine = [d for d in inside if clause[0] <= d.start and d.end <= clause[1]]
        units = list(_detail_units(mine, names, language)) if language else []
        out += _nested(_clause_unit(text, clause, mine, names, language), units)
    return tuple(out)


def _clause_unit(
    text: str,
    clause: Stretch,
    inside: Iterable[Detail],
    names: Iterable[str],
    language: str | None,
) -> UnitSpan:
    start, end = clause
    words = text[start:end]
    tokens = tokens_of(words)
    gist = ""
    if language is not None:
        # Details go before what is told of them.
        rest = words
        for hidden in (*(text[d.start : d.end] for d in inside), *names):
            rest = rest.replace(hidden, ", ") if hidden else rest
        gist = topic_of(rest)
    salience = _RARITY_WEIGHT * share_of_rare_words(tokens, language or "")
    salience += _FEELING_WEIGHT * (feeling_words(words) > 0)
    salience += _VOW_WEIGHT * has_vow_or_date(words)
    return UnitSpan(start, end, gist, salience=round(min(salience, 1.0), 4))


def _detail_units(
    inside: Iterable[Detail], names: Mapping[str, str | None], language: str
) -> Iterator[UnitSpan]:
    types = type_words(language)
    for detail in inside:
        description = _short_gist(names.get(detail.name) or "", detail.name)
        gist = description or types[detail.kind.value]
        yield UnitSpan(detail.start, detail.end, gist, is_detail=True)


def _nested(clause: UnitSpan, inside: Iterable[UnitSpan]) -> Iterator[UnitSpan]:
    """The clause, then its details, as salient as it; a clause that is a detail is one."""
    rest = list[UnitSpan]()
    for detail in inside:
        salience = max(clause.salience, _LEAST_OF_DETAIL)
        detail = replace(detail, salience=salience)
        if (detail.start, detail.end) == (clause.start, clause.end):
            clause = detail
        else:
            rest.append(detail)
    return iter([clause, *rest])


def _short_gist(description: str, name: str) -> str:
    """The first words of a description that fit; "" where they say the name."""
    line = " ".join(description.split()).strip(" .。")
    if len(line) > _LONGEST_GIST:
        parts = clauses(line[:_LONGEST_GIST])
        line = line[: parts[0][1]] if parts else ""
    return "" if name.casefold() in line.casefold() else line
