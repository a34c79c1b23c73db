"""How rare a word is in chats of anybody: a function of the word and the language alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import cache
from math import log

from soulmem.language.scripts import UNSPACED
from soulmem.language.tokens import Tokeniser
from soulmem.language.world_lines import LANGUAGES, world_scenes

_TOKENISER = Tokeniser()
_UNSPACED = re.compile(f"[{UNSPACED}]")
_FEW = 3  # words: what is rare in a clause is said by its rarest


def share_of_rare_words(tokens: Collection[str], language: str) -> float:
    """0..1: the rarity of the three rarest of the tokens; fewer than three say less.

    1 is a word that no plain chat line has, 0 one that nearly all have. Of scripts without spaces only signs
    alone count: hardly any pair of signs is in the few hundred lines.
    """
    frequency, lines = frequencies(language)
    alone = (t for t in set(tokens) if len(t) == 1 or not _UNSPACED.match(t))
    rarest = sorted(log(lines / (1 + frequency[token])) for token in alone)[-_FEW:]
    return max(0.0, sum(rarest)) / (_FEW * log(lines))


def tokens_of(text: str) -> tuple[str, ...]:
    """The tokens of a text; names are brought to a base form like other words."""
    return _TOKENISER.tokens(text)


@cache
def frequencies(language: str) -> tuple[Counter[str], int]:
    """In how many plain chat lines each token is, and one more than the number of lines."""
    frequency: Counter[str] = Counter()
    count = 1
    for scene in world_scenes(language if language in LANGUAGES else "en"):
        for line in scene:
            frequency.update(set(tokens_of(line)))
            count += 1
    return frequency, count
