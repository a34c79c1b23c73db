"""Query texts and token weights, from the last messages or from a given text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import sqrt

# a text to embed and its share of the query; the shares sum to 1
QueryPart = tuple[str, float]


# How the query is made.
MESSAGES = 3  # how many of the last messages count; design 4.1
# 0..1, weight of a message relative to the one after it
MESSAGE_RECENCY = 0.5
# 0..1, the same for the words of a line; +2 to +3 points on MADial-Bench over 1
LINE_RECENCY = 0.8
MAX_LENGTH = 180  # estimated tokens that an embedder reads of a text


def parts_of_messages(texts: Sequence[str]) -> list[QueryPart]:
    """One part for each of the last messages (oldest first), the newest weighted most; blank ones are ignored.

    In the form of their memories' texts, messages have vectors already.
    """
    recent = [text.strip() for text in texts if text.strip()][-MESSAGES:]
    raw = [MESSAGE_RECENCY**age for age in reversed(range(len(recent)))]
    return [(text, weight / sum(raw)) for text, weight in zip(recent, raw, strict=True)]


def parts_of_text(text: str) -> list[QueryPart]:
    """One part of a given text: its last lines up to `max_length`; no part if it is blank.

    One vector of the whole scores better than a weighted sum of vectors of its lines.
    """
    kept: list[str] = []
    length = 0.0
    for line in reversed([line.strip() for line in text.splitlines() if line.strip()]):
        length += _length(line)
        if kept and length > MAX_LENGTH:
            break
        kept.append(line)
    return [("\n".join(reversed(kept)), 1.0)] if kept else []


def token_weights(
    parts: Iterable[QueryPart],
    tokens: Callable[[str], Iterable[str]],
) -> dict[str, float]:
    """Weight of each token: square root of its count, weighted by part and by recency of the line."""
    count: dict[str, float] = defaultdict(float)
    for text, share in parts:
        lines = text.splitlines()
        for age, line in enumerate(reversed(lines)):
            for token in tokens(line):
                count[token] += share * LINE_RECENCY**age
    return {token: sqrt(weight) for token, weight in count.items()}


def _length(line: str) -> float:
    """Estimated tokens of a multilingual model: 1 for 4 letters, 3 for 4 Chinese characters."""
    dense = sum(character >= "\u2e80" for character in line)
    return 0.75 * dense + 0.25 * (len(line) - dense)
