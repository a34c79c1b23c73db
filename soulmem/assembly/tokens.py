"""How many tokens a text may cost, whichever tokenizer the model has: an upper estimate without one."""

from __future__ import annotations

import math
import re
from functools import lru_cache

# Shares seen with cl100k, Llama and Qwen vocabularies, rounded up: the budget is a promise, room left over
# is not a loss.
# A single space costs nothing: it belongs to the word behind it.
_PIECE = re.compile(
    r"[A-Za-z]+|[0-9]+|\s\s+|[^\S \t\r\f\v\x1c-\x1f]|[^\W\d_A-Za-z]+|\S"
)
_WIDE_FROM = 0x2E80  # CJK, kana, Hangul, emoji
_WIDE_TOKENS = 1.35  # per character
_OTHER_TOKENS = 0.85  # per letter of another alphabet
_SYMBOL_TOKENS = 2.0  # per arrow, box, joiner or character of that sort


def estimate_tokens(text: str) -> int:
    """Tokens `text` costs at most with a usual tokenizer; 0 for an empty text."""
    return math.ceil(sum(map(_cost, _PIECE.findall(text))))


@lru_cache(1 << 14)  # words come again and again
def _cost(piece: str) -> float:
    first = piece[0]
    if not first.isascii():
        return sum(map(_character_cost, piece))
    if first.isalpha():
        return max(1.0, len(piece) / 4)
    if first.isdigit():
        return max(1.0, len(piece) / 2)
    return piece.count("\n") + (len(piece) - 1) / 4 if first.isspace() else 1


def _character_cost(character: str) -> float:
    code = ord(character)
    if code >= 0x1F000:
        return 3.0
    return (
        _WIDE_TOKENS
        if code >= _WIDE_FROM
        else _OTHER_TOKENS
        if character.isalpha()
        else _SYMBOL_TOKENS
    )
