"""How much longer does a walk take whose multipliers are given with the query?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from statistics import median

import numpy as np

from soulmem.kernels.csr import Ids
from soulmem.kernels.walk import Tuning
from tests.bench.graphs import Edges, Query
from tests.bench.methods import SoulMem
from tests.bench.reference import shortest

_OWN = 100  # edges with a multiplier of their own
_REPEATS = 20  # such walks are short


@dataclass(frozen=True, slots=True)
class Tuned:
    """Medians of time with multipliers over time of the same walk on ready weights.

    `same` when all queries share the multipliers, `fresh` when no two in a row do. The edges with a multiplier of
    their own stay the same, as in a recall, where they lead to facts.
    """

    graph: str
    restart: float
    seeds: int
    l1: float
    same: float
    fresh: float


def tuned_ratio(graph: str, edges: Edges, asked: Sequence[Query]) -> Tuned:
    """Eight classes of edges with a factor each, and a hundred edges with one of their own."""
    rng = np.random.default_rng(5)
    own = rng.choice(len(edges), min(_OWN, len(edges)), replace=False).astype(np.uint32)
    one, other = _tuning(rng, own), _tuning(rng, own)
    ready, steady, changing = (
        SoulMem(_applied(edges, one)),
        SoulMem(edges, one),
        SoulMem(edges),
    )
    turn = cycle((other, one))

    def ask_anew(query: Query) -> None:
        changing.tuning = next(turn)
        changing.ask(query)

    same, fresh = [], []
    for query in asked:
        base = shortest(lambda q=query: ready.ask(q), _REPEATS)  # type: ignore[misc]
        same.append(shortest(lambda q=query: steady.ask(q), _REPEATS) / base)  # type: ignore[misc]
        fresh.append(shortest(lambda q=query: ask_anew(q), _REPEATS) / base)  # type: ignore[misc]
    first = asked[0]
    return Tuned(graph, first.restart, first.seeds.size, first.l1, median(same), median(fresh))


def _tuning(rng: np.random.Generator, own: Ids) -> Tuning:
    factors = np.ones(256, np.float32)
    factors[:8] = rng.uniform(0.25, 4, 8)
    return Tuning(
        kind_factor=factors,
        edges=own,
        factor=rng.uniform(0.25, 4, own.size).astype(np.float32),
    )


def _applied(edges: Edges, tuning: Tuning) -> Edges:
    """The same edges with the multipliers in their weights."""
    assert tuning.kind_factor is not None
    assert tuning.edges is not None
    assert tuning.factor is not None
    weight = edges.weight * tuning.kind_factor[SoulMem.kinds(len(edges))]
    weight[tuning.edges] *= tuning.factor
    return Edges(
        edges.nodes,
        edges.source,
        edges.target,
        weight.astype(np.float32).astype(np.float64),
    )
