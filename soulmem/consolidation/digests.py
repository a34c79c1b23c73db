"""Digest of a span of time without a language model: the texts to quote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DigestLine:
    """A text that may be quoted. `keys` are its topics; `importance` is 0..1, and so is `asked`, its relevance
    to the topic of the digest.
    """

    text: str
    importance: float
    keys: tuple[str, ...] = ()
    asked: float = 0.0


@dataclass(frozen=True, slots=True)
class DigestParams:
    """How a digest is chosen."""

    lines: int = 5  # quoted at most
    # weight of topics shared with other texts, relative to importance
    common: float = 0.5


def choose_lines(
    lines: Sequence[DigestLine], params: DigestParams | None = None
) -> list[int]:
    """Indices of the lines to quote, ascending: those of highest importance and most common topics.

    A text equal to one chosen before, apart from case and spaces, is left out.
    """
    p = params or DigestParams()
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(set(line.keys))
    top = max(counts.values(), default=1)

    def worth(index: int) -> float:
        line = lines[index]
        shared = [counts[key] / top for key in line.keys if counts[key] > 1]
        return (
            line.asked
            + line.importance
            + p.common * (sum(shared) / len(line.keys) if line.keys else 0.0)
        )

    chosen: list[int] = []
    quoted: set[str] = set()
    for index in sorted(range(len(lines)), key=lambda index: (-worth(index), index)):
        plain = " ".join(lines[index].text.split()).casefold()
        if len(chosen) < p.lines and plain not in quoted:
            quoted.add(plain)
            chosen.append(index)
    return sorted(chosen)
