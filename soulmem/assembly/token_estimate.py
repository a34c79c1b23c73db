"""Upper estimate of the tokens of a text, without a tokenizer."""

from __future__ import annotations

import math
import re
from functools import lru_cache

# Measured with cl100k, Llama and Qwen vocabularies and rounded up, as the budget must not be exceeded.
# A single space costs nothing: it belongs to the word behind it.
_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|\s\s+|[^\S \t\r\f\v\x1c-\x1f]|[^\W\d_A-Za-z]+|\S")
_WIDE_FROM = 0x2E80  # CJK, kana, Hangul, emoji
_WIDE_TOKENS = 1.35  # per character
_OTHER_TOKENS = 0.85  # per letter of another alphabet
_SYMBOL_TOKENS = 2.0  # per arrow, box, joiner or similar


def estimate_tokens(text: str) -> int:
    """Tokens that `text` costs at most with a common tokenizer; 0 for an empty text."""
    return math.ceil(sum(map(_cost, _PIECE.findall(text))))


@lru_cache(1 << 14)  # words recur
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
