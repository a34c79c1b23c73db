"""Which graphs are walked in the benchmarks, and from where?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a graph is made of. `degree` is the mean number of out-edges before doubles are dropped."""

    nodes: int
    degree: int
    seed: int
    hubs: int = 0
    hub_degree: int = 0


# Sizes of a soul from a few months to far beyond a life; the hubs are the people whom everything mentions.
SHAPES = {
    "1k-8": Shape(1_000, 8, 11),
    "10k-8": Shape(10_000, 8, 1),
    "10k-32": Shape(10_000, 32, 2),
    "100k-8": Shape(100_000, 8, 3),
    "100k-32": Shape(100_000, 32, 4),
    "1M-8": Shape(1_000_000, 8, 5),
    "1M-32": Shape(1_000_000, 32, 6),
    "hub100k": Shape(100_000, 8, 7, 20, 20_000),
    "hub1M": Shape(1_000_000, 8, 8, 50, 50_000),
}


@dataclass(frozen=True, slots=True)
class Edges:
    """A directed weighted graph: one row per edge. No self-loops, no parallel edges, no node without an
    out-edge. `weight` holds float32 values, so that everybody who is measured starts from the same graph.
    """

    nodes: int
    source: Ints
    target: Ints
    weight: Floats

    def __len__(self) -> int:
        return int(self.source.size)


@dataclass(frozen=True, slots=True)
class Query:
    """Where a walk starts and how exact it must be: `share` sums to 1, `l1` is the greatest L1 error."""

    seeds: NDArray[np.uint32]
    share: Floats
    restart: float
    l1: float


def make_graph(shape: Shape) -> Edges:
    """A memory graph: most edges join what is near in time, the others lead to what is popular.

    Out-degrees are 1 + Lomax(1.3), capped; weights log-normal(0, 1.5). Hubs have very many out-edges with
    Pareto(0.8) weights, and a quarter of all nodes send a third of their weight to one of them.
    """
    rng = np.random.default_rng(shape.seed)
    n = shape.nodes
    degree = _degrees(rng, n, shape.degree)
    source = np.repeat(np.arange(n, dtype=np.int64), degree)
    target = _targets(rng, n, source)
    weight = rng.lognormal(0.0, 1.5, source.size)
    if shape.hubs:
        source, target, weight = _with_hubs(rng, shape, source, target, weight)
    return _tidy(n, source, target, weight)


def queries(nodes: int, count: int, seeds: int, restart: float, l1: float) -> Iterator[Query]:
    """The same starting points for everybody: `seeds` nodes each, with Dirichlet(1) shares."""
    rng = np.random.default_rng(12345)
    for _ in range(count):
        where = rng.choice(nodes, seeds, replace=False)
        yield Query(where.astype(np.uint32), rng.dirichlet(np.ones(seeds)), restart, l1)


def _degrees(rng: np.random.Generator, n: int, mean: int) -> Ints:
    """Out-degrees, scaled so that they have that mean once they are capped."""
    tail = rng.pareto(1.3, n)
    most = min(n // 4, 3000)

    def scaled(factor: float) -> Floats:
        return np.asarray(np.minimum(1 + np.floor(tail * factor), most), dtype=np.float64)

    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if scaled(middle).mean() < mean else (low, middle)
    return scaled(high).astype(np.int64)


def _targets(rng: np.random.Generator, n: int, source: Ints) -> Ints:
    """60 % at a Pareto distance in time, 40 % by popularity."""
    m = source.size
    distance = np.minimum(1 + np.floor(8 * rng.pareto(1.1, m)), n / 2).astype(np.int64)
    near = (source + distance * np.where(rng.random(m) < 0.5, 1, -1)) % n
    by_rank = rng.permutation(n)
    rank = np.minimum((n * rng.random(m) ** 3).astype(np.int64), n - 1)
    return np.where(rng.random(m) < 0.6, near, by_rank[rank])


def _with_hubs(
    rng: np.random.Generator, shape: Shape, source: Ints, target: Ints, weight: Floats
) -> tuple[Ints, Ints, Floats]:
    n = shape.nodes
    hubs = rng.choice(n, shape.hubs, replace=False)
    plain = ~np.isin(source, hubs)
    source, target, weight = source[plain], target[plain], weight[plain]
    out_of = np.repeat(hubs, shape.hub_degree)
    into = rng.integers(0, n, out_of.size)
    strength = rng.pareto(0.8, out_of.size) + 1e-3
    total = np.bincount(source, weights=weight, minlength=n)
    fans = np.flatnonzero((rng.random(n) < 0.25) & (total > 0))
    idols = hubs[rng.integers(0, shape.hubs, fans.size)]
    return (
        np.concatenate([source, out_of, fans]),
        np.concatenate([target, into, idols]),
        np.concatenate([weight, strength, 0.5 * total[fans]]),
    )


def _tidy(n: int, source: Ints, target: Ints, weight: Floats) -> Edges:
    """Without self-loops and doubles (the first of several stays); who has no edge left gets one."""
    proper = source != target
    source, target, weight = source[proper], target[proper], weight[proper]
    _, first = np.unique(source * n + target, return_index=True)
    source, target, weight = source[first], target[first], weight[first]
    alone = np.setdiff1d(np.arange(n, dtype=np.int64), source)
    source = np.concatenate([source, alone])
    target = np.concatenate([target, (alone + 1) % n])
    weight = np.concatenate([weight, np.ones(alone.size)])
    return Edges(n, source, target, weight.astype(np.float32).astype(np.float64))
