"""Whether a message says of the last one that it is not so. English and Chinese; others are neutral."""

from __future__ import annotations

import re

from soulmem.language.segmentation import sentences
from soulmem.language.word_lists import alternatives, words

_FIRST = (
    2  # sentences of a message that are looked at: later ones are about something else
)
_CORRECTION = re.compile(
    rf"(?:{alternatives(words('en', 'corrections', 'openings'))})\b"
    rf"|{alternatives(words('zh', 'corrections', 'openings'))}",
    re.IGNORECASE,
)
# What may stand around an action before the words that are said.
_ACTIONS = {"*": "*", "(": ")", "\uff08": "\uff09"}


def is_correction(text: str) -> bool:
    """Whether one of the first sentences denies what was said before."""
    plain = text.replace("\u2019", "'")
    return any(_CORRECTION.match(_spoken(part)) for part in sentences(plain)[:_FIRST])


def _spoken(sentence: str) -> str:
    """The sentence from its first word on that is no action."""
    rest = sentence.strip()
    while rest and not rest[0].isalnum():
        end = rest.find(_ACTIONS.get(rest[0], ""), 1)
        is_action = rest[0] in _ACTIONS and end > 0
        rest = rest[end + 1 if is_action else 1 :].lstrip()
    return rest
