"""Which texts stand for what is going on now, and how much does each count?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Part = tuple[str, float]  # a text to embed and its share of the query; the shares sum to 1


@dataclass(frozen=True, slots=True)
class QueryParams:
    """How the query is cut. Starting values of design section 4."""

    messages: int = 3  # how many of the last messages count
    recency: float = 0.5  # 0..1, weight of a message relative to the one after it
    max_parts: int = 4  # embedding is what recall waits for


def from_messages(texts: Sequence[str], params: QueryParams | None = None) -> list[Part]:
    """The last messages (oldest first), each as its own part, the newest counting most; empty ones are ignored."""
    p = params or QueryParams()
    said = [text.strip() for text in texts if text.strip()][-p.messages :]
    return _weighted(said, p.recency)


def from_text(text: str, params: QueryParams | None = None) -> list[Part]:
    """A given query: one part if it is one line, else its lines as if they were messages, newest last."""
    p = params or QueryParams()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return _weighted(lines[-p.max_parts :], p.recency)


def _weighted(texts: Sequence[str], recency: float) -> list[Part]:
    raw = [recency ** (len(texts) - 1 - i) for i in range(len(texts))]
    return [(text, weight / sum(raw)) for text, weight in zip(texts, raw, strict=True)]
