"""Which of many texts tell best what a time was about? A digest without a language model: it quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DigestLine:
    """A text that may be quoted. `keys` are what it is about, `importance` is 0..1, and so is `asked`: how
    much it is about what the digest is wanted for.
    """

    text: str
    importance: float
    keys: tuple[str, ...] = ()
    asked: float = 0.0


@dataclass(frozen=True, slots=True)
class DigestParams:
    """How a digest is chosen."""

    lines: int = 5  # quoted at most
    common: float = 0.5  # what a text gains by being about what the others are about, against its importance


def choose_lines(
    lines: Sequence[DigestLine], params: DigestParams | None = None
) -> list[int]:
    """Places of the lines to quote, ascending: the important ones, and those about what most are about.

    A text that says the same as one chosen before is left out.
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
