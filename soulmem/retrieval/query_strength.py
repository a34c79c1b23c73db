"""How strongly a query brings a memory back: what is asked plainly is clear, what drifts by is blurred."""

from __future__ import annotations

from math import sqrt

# The most that an age is divided by. After 3,000 exchanges 16 left gaps in four of five memories of
# role-play chats that were asked plainly, 24 in one of six, 32 in hardly any.
MOST_SLOWING = 32.0
# Standard deviations by which the text of the memory stands out: it drifts by; the query means it. In these
# chats nine of ten that were asked plainly stood out by 4, half of the others by less than 3.5.
DRIFTING = 2.75
MEANT = 4.0
# Of n texts the best can stand out by sqrt(n - 1): in a small soul this share of it is enough.
_REACHABLE = 0.75
# Share, 0..1, of the rarity of the query's words that the memory has, too.
_FEW_WORDS = 0.3
_MOST_WORDS = 0.7


def query_strength(standing: float, shared: float, best: float, texts: int) -> float:
    """0..1: 0 the memory merely drifts by, 1 the query means it.

    standing  of its text among all `texts`, in standard deviations
    shared    0..1, of the query's words in it, weighted by rarity
    best      standing of the text that stands out furthest; it is meant, unless it merely drifts by
    """
    reached = _REACHABLE * sqrt(max(texts - 1, 0))
    meant = min(MEANT, reached, max(DRIFTING, best))
    drifting = meant * DRIFTING / MEANT
    by_text = (standing - drifting) / (meant - drifting) if meant else 0.0
    by_words = (shared - _FEW_WORDS) / (_MOST_WORDS - _FEW_WORDS)
    return min(1.0, max(0.0, by_text, by_words))


def slowing_of(strength: float) -> float:
    """1 .. `MOST_SLOWING`: by what the age of a memory is divided that a query of that strength brings back."""
    return float(MOST_SLOWING**strength)
