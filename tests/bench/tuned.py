"""How much longer does a walk take whose multipliers are given with the query?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from soulmem.kernels.walk import Tuning
from tests.bench.graphs import Edges, Query
from tests.bench.methods import SoulMem
from tests.bench.reference import shortest

_OWN = 100  # edges with a multiplier of their own


def tuned_ratio(edges: Edges, asked: Sequence[Query], repeats: int) -> tuple[float, float]:
    """Time with multipliers, over that of the same walk on a graph that has them in its weights.

    First when all queries share them, then when every query brings others.
    """
    rng = np.random.default_rng(5)
    tunings = [_tuning(rng, len(edges)) for _ in asked]
    dynamic = SoulMem(edges)
    ready = SoulMem(_applied(edges, tunings[0]))
    same, static = [], []
    dynamic.tuning = tunings[0]
    dynamic.ask(asked[0])
    for query in asked:
        static.append(shortest(lambda q=query: ready.ask(q), repeats))  # type: ignore[misc]
        same.append(shortest(lambda q=query: dynamic.ask(q), repeats))  # type: ignore[misc]
    fresh = []
    for query, tuning in zip(asked, tunings, strict=True):
        dynamic.tuning = tuning
        fresh.append(shortest(lambda q=query: dynamic.ask(q), 1))  # type: ignore[misc]
    base = median(static)
    return median(same) / base, median(fresh) / base


def _tuning(rng: np.random.Generator, edges: int) -> Tuning:
    factors = np.ones(256, np.float32)
    factors[:8] = rng.uniform(0.25, 4, 8)
    own = rng.choice(edges, min(_OWN, edges), replace=False).astype(np.uint32)
    return Tuning(kind_factor=factors, edges=own, factor=rng.uniform(0.25, 4, own.size).astype(np.float32))


def _applied(edges: Edges, tuning: Tuning) -> Edges:
    """The same edges with the multipliers in their weights."""
    assert tuning.kind_factor is not None
    assert tuning.edges is not None
    assert tuning.factor is not None
    weight = edges.weight * tuning.kind_factor[SoulMem.kinds(len(edges))]
    weight[tuning.edges] *= tuning.factor
    return Edges(edges.nodes, edges.source, edges.target, weight.astype(np.float32).astype(np.float64))
