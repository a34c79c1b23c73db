"""Words by which the prose of a character card is cut: keys of lists, headings, beginnings of sentences."""

from __future__ import annotations

import re

from soulmem.language.word_lists import alternatives, signs, word_set, words

_HABITS = re.compile(
    rf"(?:(?:{alternatives(words('en', 'cards', 'habit_adjectives'))}) )?"
    rf"(?:{alternatives(words('en', 'cards', 'habit_headings'))})"
    rf"|.{{0,4}}(?:{alternatives(words('zh', 'cards', 'habit_headings'))})",
    re.IGNORECASE,
)
_OWN_NAME_KEYS = word_set("en", "cards", "own_name_keys") | word_set("zh", "cards", "own_name_keys")


def _starts(key: str) -> re.Pattern[str]:
    """A pattern that matches a text which begins with a word of these lists."""
    spaced = alternatives(words("en", "cards", key))
    return re.compile(rf"(?:{spaced})\b|[{signs('zh', 'cards', key)}]", re.IGNORECASE)


_POINTS_BACK = _starts("points_back")
_NO_KEY = _starts("no_key")


def is_own_name_key(key: str) -> bool:
    """Whether the names of the character itself stand under this key."""
    return key.casefold().replace(" ", "") in _OWN_NAME_KEYS


def is_habit_heading(key: str) -> bool:
    """Whether habits stand under this key."""
    return _HABITS.fullmatch(key) is not None


def points_back(sentence: str) -> bool:
    """Whether a sentence begins with a word that needs the sentence before it."""
    return _POINTS_BACK.match(sentence) is not None


def begins_sentence(text: str) -> bool:
    """Whether the words before a colon begin a sentence, so that they are no key of a list."""
    return _NO_KEY.match(text) is not None
