"""Which concepts does a text in a script with spaces tell of? Ranked by shape, place and repetition.

There is no tagger: what stands after an article or a preposition is read as a noun phrase, what differs from
its base form otherwise as a verb. Base forms are English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from soulmem.language.base_forms import (
    BEFORE_VERBS,
    JOINTS,
    NOUNS_TOO,
    OBJECTS,
    OPENERS,
    PLAIN_ADJECTIVES,
    SINGULAR,
    base_form,
)
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
# What kinds of words are worth, 0..1; see tests/language/marked_lines.py for what they are measured by.
NAME, PHRASE, NOUN, WORD, VERB, ADVERB = 1.0, 0.85, 0.8, 0.6, 0.45, 0.3
_SHOUTED = 3  # words all in capitals
_LATER = 0.1  # less for the last word than for the first


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it stands in a text."""

    raw: str  # without a possessive ending
    place: int  # of its first sign in the text
    starts: bool  # a sentence, a line or a quotation: a capital means nothing
    joined: bool  # nothing stands between it and the word before
    possessive: bool

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.raw[0].isupper()


def words(text: str) -> list[Word]:
    """The words of a plain text, in order."""
    out: list[Word] = []
    starts, joined = True, False
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "word":
            raw = match.group().replace("\u2019", "'")
            bare = _bare(raw)
            out.append(Word(bare, match.start(), starts, joined, raw != bare))
            starts, joined = False, True
        else:
            starts = starts or match.lastgroup == "end"
            joined = False
    return out


def _bare(raw: str) -> str:
    low = raw.lower()
    for ending in _ENDINGS:
        if low.endswith(ending) and len(raw) > len(ending):
            return raw[: -len(ending)]
    return raw


def is_stop(word: str) -> bool:
    """Whether the lower-case word says nothing about what a text tells of."""
    return (
        word in ENGLISH
        or len(word) < 2
        or word.endswith("n't")
        or _STRETCHED.search(word) is not None
        or (word.isascii() and _VOWEL.search(word) is None and len(word) < 5)
    )


def names(found: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Runs of words, first to after last, that are written as names: with capitals no sentence asks for.

    A word that starts a sentence belongs to one when a capital follows, or when it is a name elsewhere.
    """
    shouting = _is_shouted(found)
    sure = {
        w.raw
        for w in found
        if w.capital and not w.starts and not shouting(w) and not is_stop(w.raw.lower())
    }
    at = 0
    while at < len(found):
        stop = _name_from(found, at, sure, shouting)
        if stop > at:
            yield at, stop
        at = max(stop, at + 1)


def _is_shouted(found: Sequence[Word]) -> Callable[[Word], bool]:
    """Who writes all in capitals marks no names by them."""
    loud = sum(map(_is_loud, found)) >= _SHOUTED
    return lambda word: loud and _is_loud(word)


def _is_loud(word: Word) -> bool:
    return len(word.raw) > 1 and word.raw.isupper()


def _name_from(
    found: Sequence[Word], at: int, sure: set[str], shouting: Callable[[Word], bool]
) -> int:
    stop, last = at, at
    while stop < len(found):
        word = found[stop]
        low = word.raw.lower()
        if stop > at and not word.joined:
            break
        if (
            word.capital
            and not shouting(word)
            and (not is_stop(low) or (stop > last and low not in ENGLISH))
        ):
            stop += 1
            last = stop
            if word.possessive:
                break
        elif stop > at and low in JOINTS and stop - last < 2:
            stop += 1
        else:
            break
    if (
        last == at + 1 and found[at].raw not in sure
    ):  # one word at the start of a sentence
        return at
    return last


def ranked(found: Sequence[Word]) -> Iterator[tuple[str, float]]:
    """Keys with what they are worth, in order of appearance; a repeated key comes again."""
    named = dict(names(found))
    count = len(found)
    at = 0
    while at < count:
        slope = 1.0 - _LATER * at / count
        stop = named.get(at)
        if stop is not None:
            yield from ((key, worth * slope) for key, worth in _of_name(found[at:stop]))
            at = stop
            continue
        stop = at + 1
        while (
            stop < count
            and stop not in named
            and found[stop].joined
            and not is_stop(found[stop].raw.lower())
        ):
            stop += 1
        if is_stop(found[at].raw.lower()):
            at += 1
            continue
        around = _around(found, at, stop)
        yield from (
            (key, worth * slope) for key, worth in _of_run(found[at:stop], *around)
        )
        at = stop


def _of_name(name: Sequence[Word]) -> Iterator[tuple[str, float]]:
    yield " ".join(w.raw for w in name).lower(), NAME
    if len(name) > 1:
        for word in name:
            low = word.raw.lower()
            if low not in JOINTS and not is_stop(low):
                yield low, WORD


def _around(found: Sequence[Word], at: int, stop: int) -> tuple[str, str]:
    """The words before and after a run, lower case, empty where none is joined; adjectives do not count."""
    first = at
    while (
        first > 0
        and found[first].joined
        and found[first - 1].raw.lower() in PLAIN_ADJECTIVES
    ):
        first -= 1
    before = found[first - 1].raw.lower() if first > 0 and found[first].joined else ""
    after = found[stop].raw.lower() if stop < len(found) and found[stop].joined else ""
    return before, after


def _of_run(
    run: Sequence[Word], before: str, after: str
) -> Iterator[tuple[str, float]]:
    """Words without a stop word between them: after an opener a noun phrase until a verb shows."""
    forms = [base_form(w.raw.lower()) for w in run]
    kinds = [_kind(w.raw.lower(), form) for w, form in zip(run, forms, strict=True)]
    last = len(run) - 1
    ends_in_s = last and kinds[last] == WORD and forms[last] != run[last].raw.lower()
    if ends_in_s and (
        before in SINGULAR or after in OBJECTS
    ):  # the third person of a verb, no plural
        kinds[last] = VERB
    if before in BEFORE_VERBS:
        kinds[0] = min(kinds[0], VERB)
    head = -1
    if before in OPENERS:  # the phrase ends before a verb that follows its first word
        head = (
            next(
                (i for i in range(1, len(run)) if kinds[i] in (VERB, ADVERB)), len(run)
            )
            - 1
        )
    for i, form in enumerate(forms):
        if form in NOUNS_TOO or not is_stop(form):
            yield (
                form,
                NOUN if i == head else max(kinds[i], WORD) if i < head else kinds[i],
            )
    if 0 < head <= 2:
        yield " ".join([*(w.raw.lower() for w in run[:head]), forms[head]]), PHRASE


def _kind(word: str, form: str) -> float:
    if word.endswith("ly") and len(word) > 4:
        return ADVERB
    if word.endswith(("ed", "ing")) and len(word) > 5:
        return VERB
    return (
        VERB
        if form != word and not word.endswith(("s", "men", "children", "feet", "teeth"))
        else WORD
    )
