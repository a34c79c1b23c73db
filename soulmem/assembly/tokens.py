"""How many tokens a text may cost, whichever tokenizer the model has: an upper estimate without one."""

from __future__ import annotations

import math
import re

# Shares seen with cl100k, Llama and Qwen vocabularies, rounded up: the budget is a promise, room left over
# is not a loss.
_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|\s+|[^\W\d_A-Za-z]+|.", re.DOTALL)
_WIDE_FROM = 0x2E80  # CJK, kana, Hangul, emoji
_WIDE_TOKENS = 1.35  # per sign
_OTHER_TOKENS = 0.85  # per letter of another alphabet
_SYMBOL_TOKENS = 2.0  # per arrow, box, joiner or sign of that sort


def estimate_tokens(text: str) -> int:
    """Tokens `text` costs at most with a usual tokenizer; 0 for an empty text."""
    cost = 0.0
    for match in _PIECE.finditer(text):
        piece = match.group()
        first = piece[0]
        if first.isascii():
            if first.isalpha():
                cost += max(1.0, len(piece) / 4)
            elif first.isdigit():
                cost += max(1.0, len(piece) / 2)
            elif first.isspace():
                cost += piece.count("\n") + (len(piece) - 1) / 4
            else:
                cost += 1
        else:
            cost += sum(_sign(c) for c in piece)
    return math.ceil(cost)


def _sign(sign: str) -> float:
    code = ord(sign)
    if code >= 0x1F000:
        return 3.0
    return _WIDE_TOKENS if code >= _WIDE_FROM else _OTHER_TOKENS if sign.isalpha() else _SYMBOL_TOKENS
