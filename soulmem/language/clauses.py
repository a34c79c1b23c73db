"""Clauses: the stretches between the marks of a text, in any script.

A clause begins and ends with a word, and has no bracket or quotation mark without its other half.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from soulmem.language.markup import LONGEST
from soulmem.language.scripts import UNSPACED
from soulmem.language.word_lists import alternatives, words

Stretch = tuple[int, int]  # from a character of a text to the one after the last

_SHORT = 3  # words; a shorter clause says little without the one beside it
_LONG = 4  # words on either side of a conjunction that begins a clause
_SIGNS_A_WORD = 1.5  # of a script without spaces
_LONGEST_QUOTE = 80  # characters; what is longer is a speech, with clauses of its own
_ABBREVIATIONS = frozenset(words("en", "sentences", "abbreviations"))
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))

_MOST_QUOTES = 20  # of one text
_QUOTE = re.compile(
    '"(?P<straight>[^"\n]*)"|“(?P<curly>[^“”\n]*)”|「(?P<corner>[^「」\n]*)」|『(?P<white>[^『』\n]*)』'
    "|《(?P<title>[^《》\n]*)》|«(?P<angle>[^«»\n]*)»"
)
# Words in quotation marks within a sentence are a part of its clause: `Ann whispered "stay" to me`; titles, too.
_BEFORE_WORDS = re.compile('[^\\s.!?\u2026。！？"“”「」『』《》«»*][ \\t]?\\Z')
_SENTENCE = re.compile("[.!?\u2026。！？()（）\\[\\]{}*]")
_MARK = re.compile(
    r"<[^<>\n]{0,300}>|\{\{[^{}\n]{0,100}\}\}|https?://\S+"
    r"|[.,:，、：;；。！？!?\u2026\n\r\"“”«»「」『』《》()（）\[\]【】{}<>*~`|\u2014\u2013]|(?<!\w)[-_]|[-_](?!\w)"
    "|\u2018|(?<![A-Za-z])\u2019"
)
_COMMAS = frozenset(",，、")
_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}_])\w)+(?:['\u2019](?:(?![{UNSPACED}_])\w)+)*")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_OPENING = re.compile(
    rf"(?<=\S) (?=(?:{alternatives(words('en', 'clauses', 'openings'))})\s)",
    re.IGNORECASE,
)


def clauses(text: str, start: int = 0) -> list[Stretch]:
    """Where the clauses of the text stand, from `start` on, in order and without overlap.

    Sentences, and what commas, quotation marks, brackets and asterisks part; a clause of a word or two goes
    with its neighbour behind the comma. English conjunctions begin one, too. Text beyond the first 20,000
    characters belongs to none.
    """
    stop = min(len(text), start + LONGEST)
    quoted = quotes(text, start)
    out: list[Stretch] = []
    for begin, end in _stretches(text, start, stop, quoted):
        is_joined = bool(out) and text[out[-1][1] : begin].strip() in _COMMAS
        is_long = _has_words(text, begin, end, _SHORT)
        if is_joined and not (is_long and _has_words(text, *out[-1], _SHORT)):
            out[-1] = (out[-1][0], end)
        else:
            out.append((begin, end))
    return list(chain.from_iterable(_parted(text, whole, quoted) for whole in out))


def quotes(text: str, start: int = 0) -> list[Stretch]:
    """Where the words of short quotations and titles stand that belong to a longer sentence, without the marks."""
    out: list[Stretch] = []
    for begin, end in quotations(text, start):
        is_inside = _BEFORE_WORDS.search(text[max(start, begin - 3) : begin - 1])
        is_short = 0 < end - begin <= _LONGEST_QUOTE
        if is_inside and is_short and not _SENTENCE.search(text, begin, end):
            out.append((begin, end))
    return out[:_MOST_QUOTES]


def quotations(text: str, start: int = 0) -> Iterator[Stretch]:
    """Where words in quotation marks stand, speech too, without the marks."""
    for match in _QUOTE.finditer(text, start, min(len(text), start + LONGEST)):
        yield match.span(match.lastgroup or 0)


def _stretches(text: str, start: int, stop: int, quoted: Sequence[Stretch]) -> Iterator[Stretch]:
    """What stands between two marks, from its first word to its last."""
    has_kana = _KANA.search(text, start, stop) is not None
    inside = iter([*quoted, (stop, stop)])
    first, last = next(inside)
    begin = start
    for mark in _MARK.finditer(text, start, stop):
        while mark.start() > last:
            first, last = next(inside)
        if first - 1 <= mark.start() <= last and first < last:
            continue
        if not _parts(text, mark, has_kana):
            continue
        yield from _trimmed(text, begin, mark.start(), quoted)
        begin = mark.end()
    yield from _trimmed(text, begin, stop, quoted)


def _parts(text: str, mark: re.Match[str], has_kana: bool) -> bool:
    """Whether a mark parts clauses: not a point in a number, a name or an abbreviation."""
    sign, place = mark.group(), mark.start()
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if sign == "、":  # lists things in Chinese
        return has_kana
    if sign in (",", ":", "："):
        return not (before.isdigit() and after.isdigit())
    if sign != ".":
        return True
    if after.isalnum():
        return False
    head = text[max(0, place - _LONGEST_ABBREVIATION - 1) : place].split()
    return not head or head[-1].lower() not in _ABBREVIATIONS


def _trimmed(text: str, begin: int, end: int, quoted: Sequence[Stretch]) -> Iterator[Stretch]:
    """The stretch from its first word to its last, quotations whole; nothing where it has no word."""
    first = _WORD.search(text, begin, end)
    if first is None:
        return
    last = first
    for last in _WORD.finditer(text, first.start(), end):  # noqa: B007
        pass
    begin, end = first.start(), last.end()
    for start, stop in quoted:
        if begin <= start < end or begin < stop <= end:
            begin, end = min(begin, start - 1), max(end, stop + 1)
    yield begin, end


def _parted(text: str, whole: Stretch, quoted: Sequence[Stretch]) -> Iterator[Stretch]:
    """The clause, or its parts where a conjunction begins another one with words enough on both sides."""
    begin, end = whole
    for opening in _OPENING.finditer(text, begin, end):
        place = opening.end()
        if any(start <= place < stop for start, stop in quoted):
            continue
        is_long = _has_words(text, begin, opening.start(), _LONG)
        if is_long and _has_words(text, place, end, _LONG):
            yield begin, opening.start()
            begin = place
    yield begin, end


def _has_words(text: str, begin: int, end: int, least: int) -> bool:
    """Whether the stretch has so many words; a sign of a script without spaces is a part of one."""
    count = 0.0
    for word in _WORD.finditer(text, begin, end):
        count += 1 / _SIGNS_A_WORD if _UNSPACED.match(word.group()) else 1.0
        if count >= least:
            return True
    return False
