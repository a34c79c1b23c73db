"""Questions about a time: whether a line asks, and whether it names anything but the time. en, zh, ja."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from soulmem.language.word_lists import alternatives, word_set, words

_ASKS = re.compile(
    rf"[?？吗]|{alternatives(words('zh', 'time_questions', 'asking'))}"
    rf"|\b(?:{alternatives(words('en', 'time_questions', 'asking'))})\b",
    re.IGNORECASE,
)
_FILLER = word_set("en", "time_questions", "filler")
_UNSPACED_FILLER = re.compile(alternatives(words("zh", "time_questions", "filler")))
_WORD = re.compile(r"[^\W_]+")


def asks(line: str) -> bool:
    """Whether the line asks something."""
    return _ASKS.search(line) is not None


def is_only_filler(rest: str, tokens: Callable[[str], Iterable[str]]) -> bool:
    """Whether a question, without the words for its time, names nothing.

    tokens  cuts a word into the tokens of a search
    """
    words_left = _WORD.findall(_UNSPACED_FILLER.sub(" ", rest))
    return all(_FILLER.issuperset(tokens(word)) for word in words_left)
