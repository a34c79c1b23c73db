"""The place where a text says that something happens, English and Chinese; only where it says so plainly."""

from __future__ import annotations

import re
from collections.abc import Sequence

from soulmem.language import spaced_words
from soulmem.language.chinese_names import is_place_word
from soulmem.language.english_names import CALENDAR, OF_PLACES, TONGUES, name_runs
from soulmem.language.grammars import ENGLISH_CODE, languages_of
from soulmem.language.markup import plain
from soulmem.language.scripts import HAN, is_unspaced
from soulmem.language.spaced_words import Word
from soulmem.language.word_lists import alternatives, words

_ENGLISH_OR_NONE: tuple[tuple[str, ...], ...] = ((ENGLISH_CODE,), ())
_INTO = frozenset(("in", "into", "inside", "within", "across", "through", "throughout"))
_TO = frozenset(("at", "to", "from", "near", "outside", "around", "towards", "toward", "of"))
_ARTICLES = frozenset(("the", "a", "an"))
_BEFORE_PLACES = _INTO | _TO - {"of"}
_ENDINGS = alternatives(sorted(words("zh", "places", "kinds"), key=len, reverse=True))
_THERE = re.compile(
    rf"(?:正在|就在|坐在|站在|躺在|住在|待在|留在|在|来到|回到|走到|赶到|到达|到|前往|走进|进入|逃进)"
    rf"(?P<name>[{HAN}]{{0,4}}?(?:{_ENDINGS}))(?![{HAN}]{{0,2}}(?:人|长|主人|老板|馆长))"
)
_VAGUE = re.compile(
    rf"^(?:那|这|一|某|哪|每|几|两|座|个|间|家|条|片|处|所|附近|整|同|我们|你们|他们|她们|自己|[{'我你他她它您咱'}])+"
)
_MEASURED = re.compile(
    rf"[一二两三四五六七八九十几半这那某每](?:{alternatives(words('zh', 'places', 'measures'))})"
)
_AT, _ON = tuple("在到"), tuple("上下里中内")
_NO_PLACE = re.compile("[的了着过吗呢吧是有说想看做把被让很也都就不没和与跟]")


def place_of(text: str) -> str | None:
    """The first place that the text names for what it tells, as written; None when it is not sure."""
    words = plain(text)
    return _english(words) or _chinese(words)


def after_place_words(text: str, name: str) -> tuple[int, int]:
    """How often a text has a name, and how often as a place's or a thing's: behind in, at, to, from .., the, a, or
    with an owner before or behind it, as in Cobbler's Rest.

    A name of several words counts by its first; one with a word such as bridge at either end always. Of names in
    scripts without spaces those count that the dictionary has as a place; of others what stands as the title of
    a work, beside a measure word of things, or as what something lies on or in.
    """
    if is_unspaced(name):
        count = text.count(name)
        return count, count if is_place_word(name) else _unspaced_things(text, name)
    own = name.lower().split() or [""]
    found_words = spaced_words.words(plain(text))
    places = [i for i, w in enumerate(found_words) if w.low == own[0] and w.capital]
    if len(own) > 1 and not OF_PLACES.isdisjoint((own[0], own[-1])):
        return len(places), len(places)
    return len(places), sum(_is_thing(found_words, i) for i in places)


def _unspaced_things(text: str, name: str) -> int:
    count, at = 0, text.find(name)
    while at >= 0:
        before, after = text[max(at - 2, 0) : at], text[at + len(name) :][:2]
        is_title = before.endswith("《") and after.startswith("》")
        is_measured = _MEASURED.fullmatch(before) or _MEASURED.fullmatch(after)
        is_ground = before.endswith(_AT) and after.startswith(_ON)
        count += bool(is_title or is_measured or is_ground)
        at = text.find(name, at + len(name))
    return count


def _is_thing(words: Sequence[Word], at: int) -> bool:
    """Whether the name that has the word at `at` stands as that of a place or a thing."""
    start, stop = at, at + 1
    while start and words[start].joined and _goes_on(words[start - 1]):
        start -= 1
    while stop < len(words) and words[stop].joined and _goes_on(words[stop]):
        stop += 1
    if any(word.possessive for word in words[start : stop - 1]):
        return True
    before = words[start - 1].low if start else ""
    if before in _ARTICLES:
        return True
    is_place = before in _BEFORE_PLACES
    return is_place and words[start].joined and not words[at].possessive


def _goes_on(word: Word) -> bool:
    """Whether a word may belong to the same name as the one beside it."""
    is_grammar = word.low in _ARTICLES or word.low in _BEFORE_PLACES
    return word.capital and not is_grammar


def _english(text: str) -> str | None:
    found_words = spaced_words.words(text)
    if languages_of(found_words) not in _ENGLISH_OR_NONE:
        return None
    for start, stop in name_runs(found_words):
        lows = [word.low for word in found_words[start:stop]]
        if _is_place(found_words, start, stop, lows) and not _is_other(lows):
            return " ".join(word.raw for word in found_words[start:stop])
    return None


def _is_place(words: Sequence[Word], start: int, stop: int, lows: list[str]) -> bool:
    """Whether the word before a name says that it is a place."""
    before = [word.low for word in words[max(0, start - 2) : start]]
    if before and before[-1] == "the":
        before.pop()
    if not before or not words[start].joined:
        return False
    if before[-1] in _INTO and not words[stop - 1].possessive:
        return True
    return before[-1] in _TO and not OF_PLACES.isdisjoint(lows)


def _is_other(words: list[str]) -> bool:
    return words[0] in CALENDAR or words[-1] in CALENDAR or words[-1] in TONGUES


def _chinese(text: str) -> str | None:
    for match in _THERE.finditer(text):
        name = _VAGUE.sub("", match["name"])
        if len(name) > 1 and not _NO_PLACE.search(name):
            return name
    return None
