"""Which texts stand for what is going on now, and how much does each of their words count?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

QueryPart = tuple[
    str, float
]  # a text to embed and its share of the query; the shares sum to 1


@dataclass(frozen=True, slots=True)
class QueryParams:
    """How the query is cut."""

    messages: int = 3  # how many of the last messages count; design 4.1
    message_recency: float = (
        0.5  # 0..1, weight of a message relative to the one after it
    )
    line_recency: float = 0.8  # 0..1, the same for the words of a line; MADial-Bench: +2 to +3 points over 1
    max_length: int = 180  # tokens, roughly: what an embedder reads of a text before it cuts the end off


def parts_of_messages(
    texts: Sequence[str], params: QueryParams | None = None
) -> list[QueryPart]:
    """The last messages (oldest first), each a part, the newest counting most; blank ones are ignored.

    Give them as their memories are written: their vectors are then known already.
    """
    p = params or QueryParams()
    recent = [text.strip() for text in texts if text.strip()][-p.messages :]
    raw = [p.message_recency**age for age in reversed(range(len(recent)))]
    return [(text, weight / sum(raw)) for text, weight in zip(recent, raw, strict=True)]


def parts_of_text(text: str, params: QueryParams | None = None) -> list[QueryPart]:
    """A given query: one part, of the last lines that an embedder can read; no part if it is blank.

    One vector of the whole beats a weighted sum of vectors of its lines, and costs one embedding.
    """
    p = params or QueryParams()
    kept: list[str] = []
    length = 0.0
    for line in reversed([line.strip() for line in text.splitlines() if line.strip()]):
        length += _length(line)
        if kept and length > p.max_length:
            break
        kept.append(line)
    return [("\n".join(reversed(kept)), 1.0)] if kept else []


def token_weights(
    parts: Iterable[QueryPart],
    tokens: Callable[[str], list[str]],
    params: QueryParams | None = None,
) -> dict[str, float]:
    """Weight of each token: the root of its weighted count, later lines of a part counting more."""
    p = params or QueryParams()
    count: dict[str, float] = defaultdict(float)
    for text, share in parts:
        lines = text.splitlines()
        for age, line in enumerate(reversed(lines)):
            for token in tokens(line):
                count[token] += share * p.line_recency**age
    return {token: sqrt(weight) for token, weight in count.items()}


def _length(line: str) -> float:
    """Roughly, in tokens of a multilingual model: 4 letters, or 4 Chinese characters in 3."""
    dense = sum(character >= "\u2e80" for character in line)
    return 0.75 * dense + 0.25 * (len(line) - dense)
