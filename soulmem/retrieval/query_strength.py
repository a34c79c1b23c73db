"""How strongly a query brings a memory back: what is asked plainly is clear, what drifts by is blurred."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class QueryStrengthParams:
    """From when a query means a memory, and what that brings back."""

    # The most that an age is divided by. After 3,000 exchanges 16 left gaps in four of five memories of
    # role-play chats that were asked plainly, 24 in one of six, 32 in hardly any.
    most: float = 32.0
    # Standard deviations by which the text of the memory stands out: it drifts by; the query means it. In these
    # chats nine of ten that were asked plainly stood out by 4, half of the others by less than 3.5.
    drifting: float = 2.75
    meant: float = 4.0
    # Of n texts the best can stand out by sqrt(n - 1): in a small soul this share of it is enough.
    reachable: float = 0.75
    # Share, 0..1, of the rarity of the query's words that the memory has, too.
    few_words: float = 0.3
    most_words: float = 0.7


def query_strength(
    standing: float,
    shared: float,
    best: float,
    texts: int,
    params: QueryStrengthParams,
) -> float:
    """0..1: 0 the memory merely drifts by, 1 the query means it.

    standing  of its text among all `texts`, in standard deviations
    shared    0..1, of the query's words in it, weighted by rarity
    best      standing of the text that stands out furthest; it is meant, unless it merely drifts by
    """
    p = params
    reached = p.reachable * sqrt(max(texts - 1, 0))
    meant = min(p.meant, reached, max(p.drifting, best))
    drifting = meant * p.drifting / p.meant
    by_text = (standing - drifting) / (meant - drifting) if meant else 0.0
    by_words = (shared - p.few_words) / (p.most_words - p.few_words)
    return min(1.0, max(0.0, by_text, by_words))


def slowing_of(strength: float, params: QueryStrengthParams) -> float:
    """1 .. `params.most`: by what the age of a memory is divided that a query of that strength brings back."""
    return float(params.most**strength)
