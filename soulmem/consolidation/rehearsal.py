"""What does going over memories again do to the ways between them? As a recall of all of them at once would.

A way that was gone over a moment ago gains nothing by it: rest comes between two rehearsals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.plasticity import PlasticityParams

K = TypeVar("K", bound=str)
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RehearsalParams:
    """How much is gone over at once, and what it teaches."""

    memories: int = 200  # of a region: a person goes over a day, not over a life
    rest: float = 1.0  # turns since an edge was touched, below which it gains nothing
    links: int = 30  # new ones at most; design 5
    strength: float = 0.1  # 0..1, of a new link; design 5
    stability: float = 600.0  # turns; S0 of a text (design 6), by which recency counts
    often: int = 10  # recalls that count as many as there can be
    plasticity: PlasticityParams = field(default_factory=PlasticityParams)


def rehearsal_worth(
    importance: Floats, recalls: Ints, age: Floats, params: RehearsalParams
) -> Floats:
    """How much memories ask to be gone over, 0..1 each: importance x recall x recency (design 5), where the
    last two may halve it each.

    recalls  that the memory was in
    age      in turns
    """
    recalled = np.minimum(1.0, np.log1p(recalls) / np.log1p(params.often))
    recent = np.exp(-np.maximum(0.0, age) / params.stability)
    return np.asarray(
        importance * (0.5 + 0.5 * recalled) * (0.5 + 0.5 * recent), np.float64
    )


def pairs_to_link(
    recalled: Iterable[Set[K]],
    frequency: Mapping[K, float],
    joined: Set[frozenset[K]],
    params: RehearsalParams,
) -> list[tuple[K, K]]:
    """Pairs to be linked: what came to mind together most often, however absurd (Hebb).

    recalled   what each recall brought, of the memories gone over
    frequency  of recall, by memory: among pairs met as often the more frequent come first
    joined     pairs with a link already
    """
    met: Counter[tuple[K, K]] = Counter()
    for memories in recalled:
        for pair in combinations(sorted(memories), 2):
            if frozenset(pair) not in joined:
                met[pair] += 1

    def rank(pair: tuple[K, K]) -> tuple[float, float, tuple[K, K]]:
        return (
            -met[pair],
            -frequency.get(pair[0], 0.0) - frequency.get(pair[1], 0.0),
            pair,
        )

    return sorted(met, key=rank)[: params.links]
