"""Words that a listener remembers a clause by: feelings, vows, dates. en, zh."""

from __future__ import annotations

import re

from soulmem.language.word_lists import alternatives, words


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
