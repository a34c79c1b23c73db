"""Rehearsal of memories at rest: which are rehearsed, and which are linked.

A rehearsal acts on edges as one recall of all its memories. An edge touched a moment ago gains nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.plasticity import PlasticityParams, potentiated
from soulmem.kernels.arrays import Int64s

K = TypeVar("K", bound=str)
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class RehearsalParams:
    """Size of a rehearsal, and of its new links."""

    memories: int = 200  # rehearsed at once, of one region of the graph
    rest: float = 1.0  # least turns since an edge was touched, for it to gain
    links: int = 30  # new links at most; design 5
    strength: float = 0.1  # 0..1, of a new link after one recall; design 5
    stability: float = 600.0  # turns; S0 of a text (design 6), for recency
    often: int = 10  # recalls at which the factor of recalls is 1
    plasticity: PlasticityParams = field(default_factory=PlasticityParams)

    def strength_after(self, recalls: int) -> float:
        """The strength, 0..1, of a new link as if it had been there since the first of these recalls."""
        strength = self.strength
        for _ in range(recalls - 1):
            share = self.plasticity.together
            strength = potentiated(strength, share, self.plasticity)
        return strength


def rehearsal_worth(
    importance: Floats, recalls: Int64s, age: Floats, params: RehearsalParams
) -> Floats:
    """Priority of memories for rehearsal, float64[n], 0..1: importance x recall x recency (design 5), where
    each of the last two is .5 to 1.

    recalls  number of recalls of each memory
    age      in turns
    """
    recalled = np.minimum(1.0, np.log1p(recalls) / np.log1p(params.often))
    recent = np.exp(-np.maximum(0.0, age) / params.stability)
    return np.asarray(importance * (0.5 + 0.5 * recalled) * (0.5 + 0.5 * recent), np.float64)


def pairs_to_link(
    recalled: Iterable[Set[K]],
    frequency: Mapping[K, float],
    joined: Set[frozenset[K]],
    params: RehearsalParams,
    *,
    least: int = 1,
) -> dict[tuple[K, K], int]:
    """Pairs to link, the best first, with how often they were recalled together (Hebb).

    recalled   memories of each recall, among those rehearsed
    frequency  of recalls, by memory; decides between pairs of equal count
    joined     pairs that are linked already
    least      recalls that brought both
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

    often = (pair for pair, count in met.items() if count >= least)
    return {pair: met[pair] for pair in sorted(often, key=rank)[: params.links]}
