"""Habits that a sentence about somebody states: when something happens, what that one does. en, zh."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from soulmem.language.base_forms import base_form
from soulmem.language.scripts import is_unspaced
from soulmem.language.spaced_words import is_stop
from soulmem.language.word_lists import alternatives, word_set, words

_LONGEST = 400  # characters of a sentence; a longer one is a story
_LEAST = 2  # characters of a part


class Often(Enum):
    """How often a habit shows."""

    ALWAYS = "always"
    OFTEN = "often"
    SOMETIMES = "sometimes"


@dataclass(frozen=True, slots=True)
class StatedHabit:
    """When something happens, what somebody does."""

    when: str
    does: str
    often: Often


@dataclass(frozen=True, slots=True)
class _Main:
    """What is done, without who does it, and how often the sentence says so."""

    does: str
    often: Often | None


def _phrases(language: str, key: str) -> str:
    return _longest_first(words(language, "habits", key))


def _longest_first(phrases: Iterable[str]) -> str:
    """A pattern that matches the longest of these phrases."""
    return alternatives(map(re.escape, sorted(phrases, key=len, reverse=True)))


def stated_habit(
    sentence: str, names: Iterable[str], *, is_listed: bool = False
) -> StatedHabit | None:
    """The habit that the sentence states; None where it states none.

    names      of whom it must tell, unless it says he, she or they
    is_listed  the sentence stands in a list of habits: who does it goes without saying, and may be "it"
    """
    text = sentence.strip().rstrip(".。!！;；").strip()
    if not text or len(text) > _LONGEST:
        return None
    if is_unspaced(text):
        return _chinese(text, tuple(names), is_listed=is_listed)
    return _english(text, tuple(names), is_listed=is_listed)


# English


@cache
def _english_begin() -> re.Pattern[str]:
    any_time, some_time = _phrases("en", "each_time"), _phrases("en", "when")
    return re.compile(rf"(?:(?P<each>{any_time})|(?:{some_time}))\s+", re.IGNORECASE)


@cache
def _english_inner() -> re.Pattern[str]:
    any_time, some_time = _phrases("en", "each_time"), _phrases("en", "when")
    return re.compile(rf",?\s(?:(?P<each>{any_time})|(?:{some_time}))\s+", re.IGNORECASE)


def _english(text: str, names: tuple[str, ...], *, is_listed: bool) -> StatedHabit | None:
    subjects = (*words("en", "habits", "subjects"), *names)
    if is_listed:
        subjects = (*words("en", "habits", "subjects_in_lists"), *subjects)
    begin = _english_begin().match(text)
    if begin is not None:
        rest, is_each = text[begin.end() :], bool(begin["each"])
        for when, then in _english_parts(rest, subjects):
            main = _english_main(then, subjects, is_listed=is_listed, is_each=is_each)
            if main is not None:
                return _habit(when, main, is_each=is_each)
        return None
    for inner in _english_inner().finditer(text):
        is_each = bool(inner["each"])
        main = _english_main(text[: inner.start()], subjects, is_listed=is_listed, is_each=is_each)
        if main is not None and (is_each or not _asks(main.does)):
            return _habit(text[inner.end() :], main, is_each=is_each)
    return None


def _english_parts(text: str, subjects: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Where a situation may end and what is done begin: at each comma; without one where the subject stands,
    if there is one such place.
    """
    commas = list(re.finditer(r",\s+(?:then\s+)?", text))
    for comma in commas:
        yield text[: comma.start()], text[comma.end() :]
    who = _longest_first(subjects)
    starts = [
        match.start() for match in re.finditer(rf"(?<=\s)(?:{who})(?=\s)", text, re.IGNORECASE)
    ]
    if not commas and len(starts) == 1:
        yield text[: starts[0]], text[starts[0] :]


def _english_main(
    text: str, subjects: tuple[str, ...], *, is_listed: bool, is_each: bool
) -> _Main | None:
    """What is done; None where the text tells of somebody else, or of what was once.

    is_each  it is done every time: then it may be told as past
    """
    subject = _subject(text, subjects, r"\s+")
    if subject is None and not is_listed:
        return None
    rest = text[len(subject or "") :].strip()
    often, rest = _english_often(rest)
    tends = re.match(rf"(?:{_phrases('en', 'tends')})\s+", rest, re.IGNORECASE)
    if tends is not None:
        rest = rest[tends.end() :]
        more, rest = _english_often(rest)
        often = often or more
    verb = rest.removeprefix("never ").split(" ", 1)[0]
    is_told = _is_present(verb.lower(), (subject or "").strip().lower())
    is_told = is_told or (is_each and subject is not None and _may_be_verb(verb))
    if tends is None and not is_told:
        return None
    return _Main(rest, often)


def _english_often(text: str) -> tuple[Often | None, str]:
    """How often, and the text without the word that says so; what never happens keeps its word."""
    first, _, rest = text.partition(" ")
    if first.lower() == "never":
        return Often.ALWAYS, text
    for often in Often:
        if first.lower() in word_set("en", "habits", often.value):
            return often, rest
    return None, text


def _asks(does: str) -> bool:
    """Whether what follows is what somebody knows or asks, not what happens."""
    return does.split(" ", 1)[0].lower() in word_set("en", "habits", "asking")


def _is_present(verb: str, subject: str) -> bool:
    """Whether the verb tells of what is always so, not of what was."""
    if verb in word_set("en", "habits", "past") or not verb.isascii():
        return False
    if subject == "they":
        return base_form(verb) == verb
    is_present_form = verb.endswith("s") and len(verb) > 2
    return is_present_form or verb in word_set("en", "habits", "present")


def _may_be_verb(word: str) -> bool:
    """Whether the word behind a subject may be a verb in any tense: no name, and no word of grammar but `was`."""
    return word.islower() and (word in word_set("en", "habits", "past") or not is_stop(word))


def _is_past(when: str) -> bool:
    past = word_set("en", "habits", "past")
    return not past.isdisjoint(re.findall(r"[a-z']+", when.lower()))


# Chinese


@cache
def _chinese_begin() -> re.Pattern[str]:
    each, when = _phrases("zh", "each_time"), _phrases("zh", "when")
    ends, acts = _phrases("zh", "when_ends"), _phrases("zh", "acts")
    return re.compile(
        rf"(?P<who>[^，,]{{0,6}}?)(?:(?P<each>{each})|(?P<some>{when}))"
        rf"(?P<when>[^，,。]{{2,40}}?)(?:{ends})?[，,]?(?P<main>(?<=[，,]).+|(?:{acts}).+)"
    )


def _chinese_once(subjects: Iterable[str]) -> re.Pattern[str]:
    who, acts = alternatives(map(re.escape, subjects)), _phrases("zh", "acts")
    return re.compile(
        rf"(?P<who>[^，,]{{0,6}}?)一(?P<when>[^一，,。]{{1,16}}?)[，,]?(?P<main>(?:{who})?(?:{acts}).+)"
    )


@cache
def _chinese_time() -> re.Pattern[str]:
    ends = _phrases("zh", "when_ends")
    return re.compile(rf"(?P<who>)(?P<when>[^，,。]{{2,40}}?)(?:{ends})[，,](?P<main>.+)")


def _chinese(text: str, names: tuple[str, ...], *, is_listed: bool) -> StatedHabit | None:
    subjects = (*words("zh", "habits", "subjects"), *names)
    once = _chinese_once(subjects)
    for pattern in (_chinese_begin(), once, _chinese_time()):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        who = match["who"]
        if who and _subject(who, subjects, "") != who:
            continue
        is_each = bool(match.groupdict().get("each"))
        main = _chinese_main(
            match["main"], subjects, is_named=bool(who) or is_listed, is_each=is_each
        )
        if main is not None:
            return _habit(match["when"], main, is_each=is_each or pattern is once)
    return None


def _chinese_main(
    text: str, subjects: tuple[str, ...], *, is_named: bool, is_each: bool
) -> _Main | None:
    """What is done; None where nobody is named who does it, or it may have happened once."""
    subject = _subject(text, subjects, "")
    if subject is None and not (is_named or is_each):
        return None
    rest = text[len(subject or "") :]
    often: Often | None = None
    is_habit = is_each
    for _ in range(3):
        act = re.match(_phrases("zh", "acts"), rest)
        if act is not None:
            rest, is_habit = rest[act.end() :], True
        for each in Often:
            adverb = re.match(_phrases("zh", each.value), rest)
            if adverb is not None:
                often, is_habit = often or each, True
                rest = rest[adverb.end() :]
    return _Main(rest, often) if is_habit and rest else None


# Both


def _subject(text: str, subjects: Iterable[str], gap: str) -> str | None:
    """The subject at the beginning of the text, with the gap behind it."""
    match = re.match(rf"(?:{_longest_first(subjects)}){gap}", text, re.IGNORECASE)
    return match[0] if match is not None else None


def _habit(when: str, main: _Main, *, is_each: bool) -> StatedHabit | None:
    when, does = when.strip(" ,，"), main.does.strip(" ,，")
    if min(len(when), len(does)) < _LEAST or (_is_past(when) and not is_each):
        return None
    usual = Often.ALWAYS if is_each else Often.OFTEN
    return StatedHabit(when, does, main.often or usual)


def without_repeats(habits: Iterable[StatedHabit]) -> Iterator[StatedHabit]:
    """The habits, each situation with its deed once."""
    seen = set[tuple[str, str]]()
    for habit in habits:
        key = habit.when.casefold(), habit.does.casefold()
        if key not in seen:
            seen.add(key)
            yield habit
