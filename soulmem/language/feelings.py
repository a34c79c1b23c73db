"""Feelings: those that a text puts into plain words, and the one that a name stands for. en, zh, ja."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from soulmem.language.markup import plain
from soulmem.language.word_lists import alternatives, tables, word_set, words

# What takes a feeling back, shortly before its word.
_DENIED = re.compile(
    r"(?:\b(?:not|never|no|without|nothing|neither|nor|hardly|barely|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|wasn'?t"
    r"|weren'?t|won'?t|wouldn'?t|can'?t|cannot|couldn'?t|stop|stopped)\s+(?:\w+\s+){0,2}"
    r"|[不没没别莫勿無未休](?:要|有|会|再|是|用|太|那么|曾|想)?)$"
)
_BEFORE = 30  # characters before the word in which a denial counts
_IDIOM = re.compile(alternatives(words("feelings", "idioms", "others")))
_FIRST, _MORE, _MOST = 0.35, 0.1, 0.65  # intensity: a word alone is modest evidence


def _by_word(table: str) -> dict[str, str]:
    """Each word of a table of the lexicon, to its feeling."""
    out: dict[str, str] = {}
    for feeling in tables("feelings")[table]:
        out.update(dict.fromkeys(words("feelings", table, feeling), feeling))
    return out


_FEELING_BY_WORD = _by_word("words")
_FEELING_BY_NAME = _by_word("names")
_PLEASANT = word_set("feelings", "signs", "pleasant")
_UNPLEASANT = word_set("feelings", "signs", "unpleasant")


@cache
def _any_word() -> re.Pattern[str]:
    longest = sorted(_FEELING_BY_WORD, key=len, reverse=True)
    spaced = alternatives(word for word in longest if word.isascii())
    unspaced = alternatives(word for word in longest if not word.isascii())
    return re.compile(rf"\b(?:{spaced})\b|{unspaced}", re.IGNORECASE)


def feelings(text: str) -> tuple[tuple[str, float], ...]:
    """Feelings that the text states and does not deny, with intensity 0..1, in order of appearance."""
    stated = _IDIOM.sub(" ", plain(text).replace("\u2019", "'"))
    counts: Counter[str] = Counter()
    for match in _any_word().finditer(stated):
        before = stated[max(0, match.start() - _BEFORE) : match.start()].lower()
        if not _DENIED.search(before):
            counts[_FEELING_BY_WORD[match.group().lower()]] += 1
    return tuple(
        (feeling, round(min(_FIRST + _MORE * (count - 1), _MOST), 2))
        for feeling, count in counts.items()
    )


def feeling_of(label: str) -> str:
    """The feeling that a name stands for, in English; any other name is itself, without case."""
    word = label.strip().casefold()
    return _FEELING_BY_NAME.get(word, word)


def pleasantness(label: str) -> int:
    """1 for the name of a pleasant feeling, -1 for that of an unpleasant one, 0 for any other name."""
    feeling = feeling_of(label)
    return (feeling in _PLEASANT) - (feeling in _UNPLEASANT)
